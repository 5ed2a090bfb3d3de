// @ts-check
// The score sheet: what each deal was worth, line by line, in words and numbers.

import { html, nothing, repeat } from "../vendor/lit.js";
import { num, t } from "../i18n.js";
import { bid, factor, line, other, outcome, rule } from "../words.js";
import { rich, signed } from "./parts.js";

/** @import {Line, Row, Rules, Side} from "../types.js" */

/**
 * Who reads: how seats and sides are called for this reader, whose side comes first, and the rules of the table.
 * @typedef {{name: (seat: number) => string, side: (side: Side) => string, first: Side, rules: Rules}} Reader
 */

/**
 * "110 ♠ ×2", or that all passed.
 * @param {Row} row
 */
function contractShort(row) {
  return row.contract ? rich(`${bid(row.contract)} ${factor(row.contract)}`.trim()) : t("sheet.passed_out");
}

/**
 * The lines of one deal, side by side.
 * @param {Row} row
 * @param {Reader} reader
 */
export function dealLines(row, reader) {
  const sides = [reader.first, other(reader.first)];
  return html`<p class="deal-outcome">${rich(outcome(row, reader.name, reader.rules))}</p>
    <div class="deal-sides">
      ${sides.map((side) => {
        const lines = row.lines.filter((one) => one.side === side);
        return html`<table class="lines">
          <caption>${reader.side(side)}</caption>
          <tbody>
            ${lines.length === 0 ? html`<tr><td class="muted">${t("sheet.nothing")}</td><td class="n">0</td></tr>` : nothing}
            ${lines.map((one) => lineRow(one, row, reader))}
          </tbody>
          <tfoot><tr><th scope="row">${t("sheet.sum")}</th><td class="n">${num(row.score[side])}</td></tr></tfoot>
        </table>`;
      })}
    </div>`;
}

/**
 * @param {Line} one
 * @param {Row} row
 * @param {Reader} reader
 */
function lineRow(one, row, reader) {
  const why = rule(one, reader.rules);
  const extra = one.kind === "contract" && row.contract ? ` ${bid(row.contract)}` : one.kind === "factor" ? ` ${factor(row.contract)}` : "";
  return html`<tr>
    <td>${rich(line(one) + extra)}${why ? html`<span class="line-rule">${why}</span>` : nothing}</td>
    <td class="n">${one.kind === "factor" || one.kind === "rounding" ? signed(one.points) : num(one.points)}</td>
  </tr>`;
}

/**
 * All deals with their scores; each opens to its lines.
 * @param {Row[]} rows
 * @param {Reader} reader
 */
export function sheetTable(rows, reader) {
  const { first } = reader;
  const second = other(first);
  const totals = rows.at(-1)?.totals;
  if (!totals) return html`<p class="muted sheet-empty">${t("sheet.empty")}</p>`;
  return html`<div class="sheet" data-testid="sheet">
    <div class="sheet-row sheet-head"><span></span><span class="n side-name">${reader.side(first)}</span><span class="n side-name">${reader.side(second)}</span></div>
    ${repeat(
      rows,
      ({ deal }) => deal,
      (row) => html`<details class="sheet-deal">
        <summary class="sheet-row">
          <span class="sheet-what"><span class="muted">${row.deal}</span> <span>${contractShort(row)}</span>
            ${row.contract
              ? html`<span class="mark ${row.made ? "made" : "failed"}">${t(row.made ? "sheet.mark_made" : "sheet.mark_failed")}</span>`
              : nothing}</span>
          <span class="n">${num(row.score[first])}</span>
          <span class="n">${num(row.score[second])}</span>
        </summary>
        ${dealLines(row, reader)}
      </details>`,
    )}
    <div class="sheet-row sheet-total"><span>${t("sheet.total")}</span><span class="n">${num(totals[first])}</span><span class="n">${num(totals[second])}</span></div>
  </div>`;
}
