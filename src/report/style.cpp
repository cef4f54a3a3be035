// SPDX-License-Identifier: Apache-2.0
#include "report/style.h"

namespace assay {

// Colours of series are Okabe and Ito's, which people who do not see all colours can tell apart.
std::string_view report_style() {
  return R"css(
:root {
  color-scheme: light dark;
  --ink: #1c2430; --soft: #5b6675; --paper: #ffffff; --panel: #f6f7f9; --rule: #dfe3e8;
  --accent: #0b5cad; --good: #1a7f4b; --warn: #9a5b00; --bad: #b3261e;
  --s0: #0072b2; --s1: #d55e00; --s2: #009e73; --s3: #b0538c; --s4: #b07d00; --s5: #3f8fc0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e9ee; --soft: #9aa5b4; --paper: #12161c; --panel: #1a2029; --rule: #2e3742;
    --accent: #6cb2f5; --good: #58c48b; --warn: #e0a44a; --bad: #f28b82;
    --s0: #56a9dd; --s1: #f08a44; --s2: #3fc79e; --s3: #dd8fbe; --s4: #e3b341; --s5: #8cc8ea;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
}
.page { max-width: 1120px; margin: 0 auto; padding: 40px 24px 64px; }
header h1 { font-size: 2rem; line-height: 1.2; margin: 0; letter-spacing: -0.015em; }
header p { margin: 6px 0 0; color: var(--soft); overflow-wrap: anywhere; }
nav { margin: 24px 0 0; padding: 12px 0; border-block: 1px solid var(--rule); }
nav ul { display: flex; flex-wrap: wrap; gap: 4px 22px; margin: 0; padding: 0; list-style: none; }
a { color: var(--accent); text-underline-offset: 3px; text-decoration-thickness: 1px; }
nav a { text-decoration: none; }
a:hover, nav a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
section { margin-top: 52px; scroll-margin-top: 16px; }
h2 { font-size: 1.4rem; letter-spacing: -0.01em; margin: 0 0 12px; }
h3 { font-size: 1rem; margin: 32px 0 12px; overflow-wrap: anywhere; }
p { max-width: 74ch; margin: 0 0 14px; overflow-wrap: anywhere; }
.lead { font-size: 1.08rem; }
.note { color: var(--soft); }
ul { padding-left: 22px; max-width: 78ch; }
li { margin-bottom: 6px; overflow-wrap: anywhere; }
.key { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); gap: 16px;
  margin: 0; }
.key > div { background: var(--panel); border-radius: 10px; padding: 18px 20px; }
.key dt { color: var(--soft); font-size: .9rem; }
.key dd { margin: 0; }
.key b { display: block; font-size: 1.75rem; font-weight: 600; line-height: 1.3; letter-spacing: -0.02em; }
.key small { color: var(--soft); font-size: .875rem; }
.scroll { overflow-x: auto; margin: 0 0 14px; border: 1px solid var(--rule); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
caption { text-align: left; padding: 10px 14px; color: var(--soft); background: var(--panel);
  border-bottom: 1px solid var(--rule); }
th, td { padding: 8px 9px; text-align: left; vertical-align: top; }
th { font-weight: 600; border-bottom: 1px solid var(--rule); vertical-align: bottom; }
thead th { white-space: nowrap; }
tbody tr + tr td { border-top: 1px solid var(--rule); }
tbody tr:hover td { background: var(--panel); }
.n { text-align: right; white-space: nowrap; }
td small { display: block; color: var(--soft); font-size: .8rem; white-space: nowrap; }
td:not(.n) {  max-width: 44rem; overflow-wrap: break-word; }
.w { min-width: 11rem; }
.status { font-size: .8rem; font-weight: 600; white-space: nowrap; color: var(--bad); }
.status::before { content: ""; display: inline-block; width: .55em; height: .55em; margin-right: .45em;
  border-radius: 50%; background: currentColor; }
.status.measured { color: var(--good); }
.status.noisy, .status.untrusted, .status.short-of-target { color: var(--warn); }
.status.skipped, .status.unsupported { color: var(--soft); }
code { font: .85em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
  overflow-wrap: anywhere; }
summary { cursor: pointer; color: var(--accent); }
details.case { min-width: 3.2rem; }
details.case[open] { min-width: 15rem; }
details code, .case-line { user-select: all; }
.case-line { display: block; min-width: 17rem; }
details.case code { display: block; margin-top: 4px; white-space: normal; }
details.reasons { margin: -4px 0 16px; font-size: .875rem; color: var(--soft); }
button.copy { font: inherit; font-size: .8rem; margin-top: 4px; padding: 1px 10px; cursor: pointer;
  color: var(--accent); background: none; border: 1px solid var(--rule); border-radius: 6px; }
tr:target td { background: color-mix(in srgb, var(--accent) 14%, transparent); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 24px;
  margin: 0 0 18px; }
figure { margin: 0; min-width: 0; }
figcaption { font-size: .9rem; color: var(--soft); margin-bottom: 6px; overflow-wrap: anywhere; }
figure > svg { display: block; width: 100%; max-width: 620px; height: auto; }
figure .live { width: 100%; max-width: 620px; height: 380px; overflow: hidden; }
figure.is-live > svg { display: none; }
figure details.numbers { margin-top: 8px; font-size: .9rem; }
figure details .scroll { max-height: 420px; overflow-y: auto; margin-top: 8px; }
svg text { font-size: 13px; fill: var(--soft); }
svg .grid { stroke: var(--rule); stroke-width: 1; }
svg .axis { stroke: var(--soft); stroke-width: 1; }
svg .target { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 6 4; }
svg .line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; }
svg .dashed .line { stroke-dasharray: 7 4; }
svg .mark { fill: var(--c); }
svg .bar { stroke: var(--c); stroke-width: 1.5; }
svg .column rect { fill: var(--c); }
.s0 { --c: var(--s0); } .s1 { --c: var(--s1); } .s2 { --c: var(--s2); }
.s3 { --c: var(--s3); } .s4 { --c: var(--s4); } .s5 { --c: var(--s5); }
footer { margin-top: 64px; padding-top: 16px; border-top: 1px solid var(--rule); color: var(--soft);
  font-size: .875rem; }
@media (max-width: 560px) {
  .page { padding: 24px 16px 48px; }
  header h1 { font-size: 1.6rem; }
  section { margin-top: 40px; }
  th, td { padding: 7px 8px; }
  td:not(.n) { overflow-wrap: anywhere; }
  .w { min-width: 7.5rem; }
  .w:first-child { min-width: 9rem; }
  caption span { display: block; position: sticky; left: 12px; max-width: calc(100vw - 58px); }
  .key b { font-size: 1.5rem; }
  nav ul { gap: 6px 18px; }
  svg text { font-size: 15px; }
}
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --paper: #fff; --panel: #f4f4f4; --rule: #bbb;
    --accent: #000; --good: #1a7f4b; --warn: #9a5b00; --bad: #b3261e;
    --s0: #0072b2; --s1: #d55e00; --s2: #009e73; --s3: #b0538c; --s4: #b07d00; --s5: #3f8fc0; }
  @page { margin: 14mm; }
  body { font-size: 10pt; }
  .page { max-width: none; padding: 0; }
  nav, button.copy, details.numbers, details.reasons { display: none; }
  section { margin-top: 26px; }
  h2, h3, figcaption, caption { break-after: avoid; }
  figure, tr, .key > div { break-inside: avoid; }
  .scroll { overflow: visible; border: 0; }
  table { font-size: 7.2pt; }
  th, td { padding: 3px 4px; }
  thead th, td small { white-space: normal; }
  td small, .status { font-size: .9em; }
  figure.is-live > svg { display: block; }
  figure .live { display: none; }
}
)css";
}

std::string_view report_script() {
  return R"js(
(function () {
  'use strict';
  document.querySelectorAll('details.case').forEach(function (details) {
    var code = details.querySelector('code');
    var button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', function () {
      var done = function () {
        button.textContent = 'Copied';
        setTimeout(function () { button.textContent = 'Copy'; }, 1500);
      };
      var select = function () {
        getSelection().selectAllChildren(code);
        if (document.execCommand('copy')) done();
      };
      if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, select);
      else select();
    });
    details.appendChild(button);
  });

  if (!window.Plotly) return;
  var colour = function (name) {
    return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  };
  var themed = function (spec) {
    var ink = colour('soft'), rule = colour('rule');
    var layout = Object.assign({}, spec.layout, {
      paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)',
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: ink },
      margin: { l: 64, r: 14, t: 26, b: 52 }, hovermode: 'closest', bargap: 0.05,
      legend: { orientation: 'h', y: -0.22 },
      modebar: { bgcolor: 'rgba(0,0,0,0)', color: rule, activecolor: ink }
    });
    ['xaxis', 'yaxis'].forEach(function (axis) {
      layout[axis] = Object.assign({ gridcolor: rule, zeroline: false, linecolor: ink,
                                     automargin: true }, spec.layout[axis]);
    });
    layout.xaxis.showgrid = false;
    (layout.shapes || []).forEach(function (shape) { shape.line.color = colour('ink'); });
    var data = spec.data.map(function (trace, i) {
      var place = trace.meta ? trace.meta.colour : i;
      var own = colour('s' + place % 6);
      var copy = Object.assign({}, trace);
      copy.marker = { color: own, size: 7, symbol: ['circle', 'square', 'triangle-up'][place % 3] };
      copy.line = Object.assign({ color: own, width: 2 }, trace.line);
      return copy;
    });
    return { data: data, layout: layout };
  };
  var plots = [];
  document.querySelectorAll('figure.plot').forEach(function (figure) {
    var spec = JSON.parse(figure.querySelector('script').textContent);
    var live = document.createElement('div');
    live.className = 'live';
    figure.insertBefore(live, figure.querySelector('svg'));
    figure.classList.add('is-live');
    var drawn = themed(spec);
    Plotly.newPlot(live, drawn.data, drawn.layout, {
      displaylogo: false, modeBarButtonsToRemove: ['lasso2d', 'select2d']
    });
    plots.push([live, spec]);
    new ResizeObserver(function () { Plotly.Plots.resize(live); }).observe(live);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', function () {
    plots.forEach(function (plot) {
      var drawn = themed(plot[1]);
      Plotly.react(plot[0], drawn.data, drawn.layout);
    });
  });
})();
)js";
}

}  // namespace assay
