"""Plays whole games over real sockets and proves that nothing acknowledged was lost: the command `coinche load`.

`players` are the people and their habits, `book` is what they were told and promised at one table and how it is compared,
`run` sets the tables up and sums everything up.
"""
