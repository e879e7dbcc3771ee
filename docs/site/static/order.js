/* The order of tiles: each tile has the colour of its XCD and the number of its workgroup; the first ones are framed. */
"use strict";

window.tandem.define("order", (data, shape) => {
  const cell = 32, left = 8, top = 8, count = data.side * data.side;
  const text = (values) => values.map(String);

  return {
    title: "Try it: windows, chunks and XCDs",
    controls: [
      { name: "xcds", label: "XCDs", values: text(data.xcds), at: data.xcds.length - 1 },
      { name: "window", label: "Window", values: text(data.windows), at: 2 },
      { name: "chunk", label: "Chunk", values: text(data.chunks), at: data.chunks.length - 1 },
      { name: "first", label: "Framed: the first", values: Array.from({ length: count + 1 }, (_, n) => `${n} workgroups`),
        at: 64 },
    ],
    draw(svg, at) {
      const c = data.cases[(at.xcds * data.windows.length + at.window) * data.chunks.length + at.chunk];
      const xcds = data.xcds[at.xcds];
      svg.setAttribute("viewBox", `0 0 ${2 * left + data.side * cell} ${2 * top + data.side * cell}`);
      c.tiles.forEach((tile, id) => {
        const x = left + (tile % data.side) * cell, y = top + Math.floor(tile / data.side) * cell, framed = id < at.first;
        const group = shape(svg, "g", { "data-framed": framed ? 1 : 0 });
        shape(group, "rect", {
          x: x + 1, y: y + 1, width: cell - 2, height: cell - 2, fill: data.colours[id % xcds],
          stroke: framed ? "#202020" : "none", "stroke-width": 2,
        });
        shape(group, "text", {
          x: x + cell / 2, y: y + cell / 2 + 4, "font-size": 11, "text-anchor": "middle", fill: "#202020",
        }, id);
      });
      return c.text;
    },
  };
});
