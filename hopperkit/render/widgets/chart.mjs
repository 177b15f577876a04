const referred = (model, name) => model.widget_manager.get_model(model.get(name).slice("IPY_MODEL_".length));

async function plotly(model) {
  const library = await referred(model, "library");
  const source = await new Promise((resolve) => {
    library.on("msg:custom", (content) => content.plotly && resolve(content.plotly));
    library.send({ wanted: "plotly" });
  });
  const module = { exports: {} };
  new Function("module", "exports", "define", source)(module, module.exports, undefined);
  return module.exports;
}

async function render({ model, el }) {
  const Plotly = await (globalThis.hopperPlotly ??= plotly(model));
  const state = await referred(model, "state");
  let drawn = Promise.resolve();
  const draw = () => {
    // One after the other, each with the state as it is by then: the last one shows the latest.
    drawn = drawn.then(() => {
      const { data, layout } = JSON.parse(state.get("value"));
      return Plotly.react(el, data, layout, { displaylogo: false });
    });
  };
  draw();
  state.on("change:value", draw);
  const watch = new ResizeObserver(() => {
    drawn = drawn.then(() => el.isConnected && el.clientWidth > 0 && Plotly.Plots.resize(el));
  });
  watch.observe(el);
  return () => {
    watch.disconnect();
    state.off("change:value", draw);
    Plotly.purge(el);
  };
}

export default { render };
