"""The house's players. A bot is a function from what a player sees (`View`) to what a player does (`Action`); it knows no more.

`player` names them, `bidding` and `play` decide, on what `valuation` makes of a hand and `knowledge` of what was played.
"""
