/* LDS banks: the lanes of each phase of a ds_read_b128, as boxes above the four banks that they want. */
"use strict";

window.tandem.define("banks", (data, shape) => {
  const box = 34, high = 17, left = 12;

  /* One phase: its boxes, its floor with the numbers of banks, and its clocks. */
  function drawPhase(svg, chip, phase, number, x, y, most) {
    const floor = y + most * high + 18;
    for (const [lane, quad, level] of phase.lanes) {
      const group = shape(svg, "g", { "data-phase": number });
      const bottom = floor - level * high;
      shape(group, "rect", {
        x: x + quad * box, y: bottom - high, width: box - 1, height: high - 1,
        fill: level > 0 ? "#c0203a" : data.colours[lane >> 4], // red: it waits
      });
      shape(group, "text", {
        x: x + quad * box + box / 2, y: bottom - 5, "font-size": 11, "text-anchor": "middle",
        fill: level > 0 ? "#ffffff" : "#202020",
      }, lane);
    }
    const width = chip.banks / 4 * box;
    shape(svg, "line", { x1: x, y1: floor, x2: x + width, y2: floor, class: "movable-line" });
    for (let quad = 0; quad < chip.banks / 4; quad += 4)
      shape(svg, "text", { x: x + quad * box, y: floor + 13, "font-size": 10, class: "movable-ink" }, `bank ${4 * quad}`);
    shape(svg, "text", { x: x, y: y + 10, "font-size": 12, class: "movable-ink", "data-clocks": number },
      `phase ${number + 1}: ${phase.clocks} clock${phase.clocks === 1 ? "" : "s"}`);
  }

  return {
    title: "Try it: chips, and places for the chunks of a row",
    controls: [
      { name: "chip", label: "Chip", values: data.chips.map((chip) => chip.name), at: 1 },
      { name: "rule", label: "Chunks", values: data.rules, at: 2 },
    ],
    draw(svg, at) {
      const chip = data.chips[at.chip], rule = chip.rules[at.rule];
      const columns = rule.phases.length > 4 ? 2 : 1, width = chip.banks / 4 * box + 20;
      const rows = Math.ceil(rule.phases.length / columns);
      const most = Math.max(...rule.phases.map((phase) => phase.clocks)), panelHeight = most * high + 46;
      // Eight phases of a quarter of the banks stand in two columns, so that both chips have the same size of boxes.
      svg.setAttribute("viewBox", `0 0 ${left * 2 + 16 * box + 20} ${rows * panelHeight + 10}`);
      rule.phases.forEach((phase, n) =>
        drawPhase(svg, chip, phase, n, left + Math.floor(n / rows) * width, 10 + (n % rows) * panelHeight, most));
      return rule.text;
    },
  };
});
