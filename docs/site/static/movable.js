/* Pictures that move: below a picture of banks, lanes, tile order or roofline comes one with controls. This file finds the
 * pictures of a page and loads what they need; banks.js and its neighbours each draw one. They have no formulas: `tandem-draw
 * data` computed positions and texts for every setting (NAME-data.js). Controls are ordinary sliders, so the keyboard works. */
"use strict";

window.tandem = (() => {
  const namespace = "http://www.w3.org/2000/svg";
  const here = document.currentScript.src.replace(/[^/]*$/, "");
  // Which picture of a page becomes which picture that moves.
  const pictures = { "banks.svg": "banks", "lanes-16.svg": "lanes", "order.svg": "order", "roofline.svg": "roofline" };
  let figures = 0;

  /* An element of a picture, with attributes and a text. */
  function shape(parent, name, attributes, text) {
    const element = document.createElementNS(namespace, name);
    for (const key of Object.keys(attributes)) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    parent.appendChild(element);
    return element;
  }

  function element(parent, name, attributes, text) {
    const made = document.createElement(name);
    for (const key of Object.keys(attributes)) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    parent.appendChild(made);
    return made;
  }

  /* A slider over the values' texts; its own text is read aloud in place of the number. */
  function addControl(row, id, control, changed) {
    element(row, "label", { for: id }, control.label);
    const input = element(row, "input",
      { type: "range", id: id, min: 0, max: control.values.length - 1, step: 1, "data-control": control.name });
    const value = element(row, "span", { class: "movable-value" });
    input.value = String(control.at);
    input.addEventListener("input", changed);
    return {
      show() {
        const text = control.values[Number(input.value)] ?? "";
        value.textContent = text;
        input.setAttribute("aria-valuetext", text);
      },
      at: () => Number(input.value),
    };
  }

  /* picture: {title, controls: [{name, label, values, at}], draw(svg, at)}; draw sets the viewBox and returns the text, which
   * is also what screen readers say of the picture. */
  function build(after, name, picture) {
    const figure = document.createElement("figure");
    const number = ++figures;
    figure.className = "movable";
    figure.id = `movable-${name}`;
    after.insertAdjacentElement("afterend", figure);
    element(figure, "figcaption", {}, picture.title);
    const board = element(figure, "div", { class: "movable-controls" });
    const controls = {};
    for (const control of picture.controls) {
      const row = element(board, "div", { class: "movable-row" });
      controls[control.name] = addControl(row, `movable-${number}-${control.name}`, control, redraw);
    }
    const scroll = element(figure, "div", { class: "movable-picture" });
    const svg = shape(scroll, "svg", { role: "img", "aria-labelledby": `movable-${number}-text` });
    const text = element(figure, "output", { id: `movable-${number}-text`, class: "movable-text", "aria-live": "polite" });

    function redraw() {
      const at = {};
      for (const key of Object.keys(controls)) {
        controls[key].show();
        at[key] = controls[key].at();
      }
      svg.replaceChildren();
      text.textContent = picture.draw(svg, at);
    }
    redraw();
  }

  function load(file) {
    return new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = here + file;
      script.onload = done;
      script.onerror = () => failed(new Error(`${file} can't be loaded`));
      document.head.appendChild(script);
    });
  }

  /* Called by each NAME.js. */
  const makers = {};
  function define(name, make) {
    makers[name] = make;
  }

  document.addEventListener("DOMContentLoaded", async () => {
    for (const image of document.querySelectorAll("article img")) {
      const name = pictures[image.getAttribute("src").replace(/^.*\//, "")];
      if (name === undefined || document.getElementById(`movable-${name}`)) continue;
      await load(`${name}-data.js`);
      await load(`${name}.js`);
      build(image.closest("p, figure, a") ?? image, name, makers[name](window.tandemData[name], shape));
    }
    document.documentElement.dataset.movable = "ready";
  });
  return { define };
})();
