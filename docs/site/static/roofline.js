/* The roofline of a chip, and a product below it that moves with its rows and its size. */
"use strict";

window.tandem.define("roofline", (data, shape) => {
  const [x0, y0, x1, y1] = data.box;

  function drawAxes(svg) {
    for (const [x, text] of data.x) {
      shape(svg, "line", { x1: x, y1: y0, x2: x, y2: y1, class: "movable-grid" });
      shape(svg, "text", { x, y: y1 + 16, "font-size": 11, "text-anchor": "middle", class: "movable-ink" }, text);
    }
    for (const [y, text] of data.y) {
      shape(svg, "line", { x1: x0, y1: y, x2: x1, y2: y, class: "movable-grid" });
      shape(svg, "text", { x: x0 - 6, y: y + 4, "font-size": 11, "text-anchor": "end", class: "movable-ink" }, text);
    }
    shape(svg, "text", { x: (x0 + x1) / 2, y: y1 + 34, "font-size": 12, "text-anchor": "middle", class: "movable-ink" },
      "arithmetic intensity, FLOP/byte");
  }

  return {
    title: "Try it: what moves a product along the roof",
    controls: [
      { name: "roof", label: "Chip", values: data.roofs.map((roof) => roof.text), at: 2 },
      { name: "m", label: "Rows M", values: data.m.map(String), at: 0 },
      { name: "size", label: "N and K", values: data.sizes.map(String), at: 1 },
    ],
    draw(svg, at) {
      const roof = data.roofs[at.roof], c = roof.cases[at.size * data.m.length + at.m];
      svg.setAttribute("viewBox", `0 0 ${x1 + 24} ${y1 + 44}`);
      drawAxes(svg);
      shape(svg, "polyline", { points: roof.roof.map((p) => p.join(",")).join(" "), class: "movable-roof" });
      const [x, y] = c.at;
      shape(svg, "line", { x1: x, y1: y, x2: x, y2: y1, class: "movable-drop" });
      shape(svg, "circle", { cx: x, cy: y, r: 7, class: "movable-point" });
      return c.text;
    },
  };
});
