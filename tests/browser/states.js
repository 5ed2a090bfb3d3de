// States of a table, drawn by the page itself: a session is taken off its line and given what a server would have told.

async ({ names, states }) => {
  const url = performance.getEntriesByType("resource").map(({ name }) => name).find((name) => /\/js\/store\.js/.test(name));
  const { state, changed } = await import(url);
  const { session } = state;
  session.close();
  session.socket.closed = true;
  window.drawState = async (name) => {
    const { view = {}, table = {}, line = "live", drawer = null, notice = "", bubbles = [], ahead = null, away = null, showsMelds = false } = states[name];
    const whole = view === null ? null : { ...states.base.view, ...view };
    session.table = { ...states.base.table, ...table, host: state.me?.id };
    session.table.seats = session.table.seats.map((seat) => ({ ...seat, name: names[seat.seat], player: seat.seat === 0 ? state.me.id : seat.player, away: seat.seat === away }));
    session.seat = whole && whole.viewer === null ? null : 0;
    const step = { at: [1, 1], turn: 1, deadline: null, next: [], view: whole, events: [] };
    Object.assign(session, { newest: step, line, notice, ahead, showsMelds, pending: null, taken: null });
    session.shown = { ...step, step, kind: "view" };
    session.bubbles = new Map(bubbles.map((text, seat) => [seat, { text, until: Infinity }]).filter(([, bubble]) => bubble.text));
    state.drawer = drawer;
    changed();
    await new Promise((done) => setTimeout(done));
    for (const motion of document.getAnimations()) motion.finish();
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  };
  window.boxes = () => {
    // What lies on the table, by group: within one group things may lie over one another, as cards of a hand do.
    const groups = {
      ".topline > *": (each) => `top ${each.className}`,
      ".disc": (each) => `seat ${each.closest(".seat").className.match(/seat-\w+/)[0]}`,
      ".seat-name, .said, .tag, .bubble, .laid, .slot-button": (each) => `${each.className.split(" ")[0]} ${each.closest(".seat").className.match(/seat-\w+/)[0]}`,
      ".trick__card": () => "trick",
      ".trick__place": () => "trick",
      ".felt-line": () => "line",
      ".last-button": () => "last-button",
      ".belote": () => "belote",
      ".auction": () => "auction",
      ".auction button, .auction output": () => "auction",
      "coinche-hand .pcard": () => "hand",
      ".between": () => "between",
    };
    const found = [];
    for (const [selector, group] of Object.entries(groups)) {
      for (const each of document.querySelectorAll(selector)) {
        const { left, top, right, bottom } = each.getBoundingClientRect();
        if (right - left > 0 && bottom - top > 0 && getComputedStyle(each).visibility !== "hidden" && !each.matches(".grow")) {
          found.push({ group: group(each), left, top, right, bottom });
        }
      }
    }
    return found;
  };
  // Of what one must be able to read or touch whole: is any of it clipped or covered?
  window.hidden = () =>
    [...document.querySelectorAll(".auction button, .auction output, .said, .score b, .last-button, .slot-button, .belote .switch")]
      .filter((each) => {
        const { left, top, right, bottom } = each.getBoundingClientRect();
        const corners = [[left + 3, top + 3], [right - 3, top + 3], [left + 3, bottom - 3], [right - 3, bottom - 3], [(left + right) / 2, (top + bottom) / 2]];
        const round = parseFloat(getComputedStyle(each).borderTopLeftRadius) / 3 || 0;
        const inside = corners.map(([x, y], number) => [x + (number % 2 ? -round : round) * (number < 4), y + (number < 2 ? round : -round) * (number < 4)]);
        const isCovered = inside.some(([x, y]) => !each.contains(document.elementFromPoint(x, y)));
        return isCovered || each.scrollWidth > each.clientWidth + 1;
      })
      .map((each) => each.dataset.testid ?? each.textContent.trim());
  window.survey = async () => {
    const found = {};
    for (const name of Object.keys(states).filter((each) => each !== "base")) {
      await drawState(name);
      found[name] = { boxes: boxes(), hidden: hidden(), isTooTall: document.documentElement.scrollHeight > innerHeight };
    }
    return found;
  };
}
