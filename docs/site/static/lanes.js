/* A matrix instruction: A on the left, B above, the result between them; one lane is picked out. */
"use strict";

window.tandem.define("lanes", (data, shape) => {
  const left = 30, top = 30, gap = 22, chunk = 64; // pixels of 8 values along k

  function drawCell(svg, x, y, width, height, group, lane, shown, what) {
    const picked = lane === shown;
    const cell = shape(svg, "g", { "data-what": what });
    shape(cell, "rect", { x, y, width, height, fill: picked ? "#c0203a" : data.colours[group], stroke: "#ffffff" });
    const size = Math.min(11, 0.62 * Math.min(width, height * 1.6));
    shape(cell, "text", {
      x: x + width / 2, y: y + height / 2 + size / 2.8, "font-size": size, "text-anchor": "middle",
      fill: picked ? "#ffffff" : "#202020",
    }, lane);
  }

  return {
    title: "Try it: one lane at a time",
    controls: [
      { name: "shape", label: "Instruction", values: data.shapes.map((s) => s.name), at: 0 },
      { name: "lane", label: "Lane", values: data.shapes[0].texts.map((_, lane) => `lane ${lane}`), at: 21 },
    ],
    draw(svg, at) {
      const s = data.shapes[at.shape], side = s.side, cell = 16;
      const depth = s.chunks * chunk, x = left + depth + gap, y = top + depth + gap;
      svg.setAttribute("viewBox", `0 0 ${x + side * cell + 150} ${y + side * cell + 20}`);
      s.operand.forEach((lane, n) => {
        const i = Math.floor(n / s.chunks), along = (n % s.chunks) * chunk, group = Math.floor(lane / side);
        drawCell(svg, left + along, y + i * cell, chunk, cell, group, lane, at.lane, "A");
        drawCell(svg, x + i * cell, top + along, cell, chunk, group, lane, at.lane, "B");
      });
      s.result.forEach(([lane, register], n) => {
        const i = Math.floor(n / side), j = n % side;
        drawCell(svg, x + j * cell, y + i * 4 * cell, cell, 4 * cell, Math.floor(lane / side), lane, at.lane, "D");
        if (j > 0) return;
        shape(svg, "text", { x: x + side * cell + 6, y: y + (i + 0.5) * 4 * cell + 4, "font-size": 10, class: "movable-ink" },
          `rows ${4 * i}-${4 * i + 3}: registers ${register}-${register + 3}`);
      });
      for (const [name, tx, ty] of [["A", left, y - 6], ["B", x, top - 8], ["D", x - 16, y + 14]])
        shape(svg, "text", { x: tx, y: ty, "font-size": 14, class: "movable-ink" }, name);
      return s.texts[at.lane];
    },
  };
});
