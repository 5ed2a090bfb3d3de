// CSS custom properties on an element, set one by one: no style attribute is written, so the page's policy may forbid them.

import { Directive, directive, noChange } from './vendor/lit.js';

class CssVars extends Directive {
  /** @type {Set<string>} */
  names = new Set();

  /** @param {Record<string, string | number | null | undefined>} vars */
  render(vars) {
    void vars;
    return noChange;
  }

  /**
   * @param {{ element: Element }} part
   * @param {[Record<string, string | number | null | undefined>]} values
   */
  update(part, [vars]) {
    const { style } = /** @type {HTMLElement} */ (part.element);
    for (const name of this.names) {
      if (vars[name] == null) {
        style.removeProperty(name);
        this.names.delete(name);
      }
    }
    for (const [name, value] of Object.entries(vars)) {
      if (value == null) continue;
      style.setProperty(name, String(value));
      this.names.add(name);
    }
    return noChange;
  }
}

/**
 * Used in the tag itself: html`<div ${cssVars({'--left': 0.4})}></div>`.
 */
export const cssVars = directive(CssVars);
