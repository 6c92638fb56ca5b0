#include "svg_page.h"

namespace mapdiag::stacks {

std::string_view page_styles() {
    return R"css(
svg{--paper:#ffffff;--ink:#1b1b1b;--soft:#5c5c5c;--line:#ffffff;--rest:#d5d5d5;--hit:#7b2fd0;--hitink:#ffffff;--focus:#0057d9;background:var(--paper);font:12px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
text{fill:#1b1b1b;fill:var(--ink)}
#paper{fill:#ffffff;fill:var(--paper)}
#title{font-size:17px;font-family:system-ui,sans-serif}
.small{font-size:12px;font-family:system-ui,sans-serif;fill:#5c5c5c;fill:var(--soft)}
#frames rect{stroke:#ffffff;stroke:var(--line);stroke-width:.6;cursor:pointer}
#frames text{pointer-events:none}
.o{fill:#d5d5d5;fill:var(--rest);stroke-dasharray:2 2}
.r{fill:#d5d5d5;fill:var(--rest)}
#frames rect:hover{fill-opacity:.72}
#frames rect.up{fill-opacity:.45}
#frames rect.hit{fill:#7b2fd0;fill:var(--hit)}
#frames rect.hit+text{fill:#ffffff;fill:var(--hitink)}
#frames rect.now{stroke:#0057d9;stroke:var(--focus);stroke-width:2.5;stroke-dasharray:none}
.button{cursor:pointer}
.button rect{fill:none;stroke:#5c5c5c;stroke:var(--soft);rx:3px}
.button:hover rect,.button:focus rect{stroke:#0057d9;stroke:var(--focus);stroke-width:2}
.off{visibility:hidden}
svg:focus,.button:focus{outline:none}
#find{box-sizing:border-box;width:100%;height:100%;font:12px system-ui,sans-serif;color:var(--ink);background:var(--paper);border:1px solid var(--soft);border-radius:3px;padding:0 6px}
#find:focus{outline:2px solid var(--focus)}
#find.bad{border-color:#c00000;outline-color:#c00000}
@media (prefers-color-scheme:dark){svg{--paper:#16181c;--ink:#ececec;--soft:#a9adb5;--line:#16181c;--rest:#3a3d44;--hit:#a56bff;--hitink:#16181c;--focus:#6aa8ff}}
)css";
}

std::string_view page_script() {
    return R"js(
'use strict';
(function () {
  var svg = document.documentElement;
  if (svg.tagName.toLowerCase() !== 'svg') { svg = document.querySelector('svg[data-mapdiag]'); }
  var area = svg.querySelector('#frames');
  var details = svg.querySelector('#details');
  var matched = svg.querySelector('#matched');
  var reset = svg.querySelector('#reset');
  var find = svg.querySelector('#find');
  var left = Number(area.getAttribute('data-left'));
  var width = Number(area.getAttribute('data-width'));
  var upward = area.getAttribute('data-upward') === '1';
  var letter = Number(area.getAttribute('data-letter'));
  var row = Number(area.getAttribute('data-row'));
  var ns = 'http://www.w3.org/2000/svg';
  // Frames in preorder: the descendants of a frame follow it, and depth says where they end.
  var nodes = Array.prototype.map.call(area.querySelectorAll('rect'), function (rect) {
    var next = rect.nextElementSibling;
    return {
      rect: rect, text: next && next.tagName === 'text' ? next : null,
      x: Number(rect.getAttribute('x')) - left, w: Number(rect.getAttribute('width')),
      y: Number(rect.getAttribute('y')), depth: 0, parent: -1, end: 0, frame: !rect.classList.contains('o')
    };
  });
  var base = nodes[0].y;
  var open = [];
  nodes.forEach(function (node, i) {
    node.depth = Math.round(Math.abs(node.y - base) / row);
    while (open.length > node.depth) { nodes[open.pop()].end = i; }
    node.parent = node.depth ? open[node.depth - 1] : -1;
    open.push(i);
  });
  while (open.length) { nodes[open.pop()].end = nodes.length; }
  nodes.forEach(function (node, i) { node.rect.addEventListener('click', function () { zoom(i); select(i); }); });

  function hover(node) { return node.rect.querySelector('title').textContent; }
  function name(node) { var t = hover(node); return t.slice(0, t.lastIndexOf('\n')); }
  function fit(text, pixels) {
    var room = Math.floor((pixels - 6) / letter);
    if (room < 3) { return ''; }
    var letters = Array.from(text);
    return letters.length <= room ? text : letters.slice(0, room - 2).join('') + '..';
  }
  function place(node, x, w) {
    node.rect.setAttribute('x', x); node.rect.setAttribute('width', w);
    var label = fit(name(node), w);
    if (!label && !node.text) { return; }
    if (!node.text) {
      node.text = document.createElementNS(ns, 'text');
      node.text.setAttribute('y', node.y + row - 5);
      node.rect.parentNode.insertBefore(node.text, node.rect.nextSibling);
    }
    node.text.setAttribute('x', x + 3);
    node.text.textContent = label;
  }
  function show(node, visible) {
    node.rect.style.display = visible ? '' : 'none';
    if (node.text) { node.text.style.display = visible ? '' : 'none'; }
  }
  var zoomed = 0;
  function zoom(at) {
    zoomed = at;
    var target = nodes[at];
    nodes.forEach(function (node) { node.shown = false; node.rect.classList.remove('up'); });
    for (var i = at; i < target.end; ++i) {
      var node = nodes[i];
      node.shown = true;
      if (target.w > 0) { place(node, left + (node.x - target.x) / target.w * width, node.w / target.w * width); }
    }
    for (var up = target.parent; up >= 0; up = nodes[up].parent) {
      nodes[up].shown = true;
      nodes[up].rect.classList.add('up');
      place(nodes[up], left, width);
    }
    nodes.forEach(function (node) { show(node, node.shown); });
    reset.classList.toggle('off', at === 0);
    tell();
  }
  var current = -1;
  function select(at) {
    if (current >= 0) { nodes[current].rect.classList.remove('now'); }
    current = at;
    if (at >= 0) { nodes[at].rect.classList.add('now'); }
    tell();
  }
  function tell(node) {
    node = node || (current >= 0 ? nodes[current] : null);
    var text = node ? hover(node).replace(/\n/g, ', ') : '';
    if (node && zoomed > 0 && nodes[zoomed].w > 0) {
      text += ', ' + (100 * Math.min(1, node.w / nodes[zoomed].w)).toFixed(2) + ' % of the zoomed frame';
    }
    details.textContent = text;
  }
  area.addEventListener('mouseover', function (event) {
    var rect = event.target.closest('rect');
    if (rect) { tell(nodes.find(function (node) { return node.rect === rect; })); }
  });
  area.addEventListener('mouseout', function () { tell(); });

  // A frame below a match is not counted again.
  function search(text) {
    var pattern = null;
    find.classList.remove('bad');
    if (text) {
      try { pattern = new RegExp(text); } catch (error) { find.classList.add('bad'); matched.textContent = 'Not a regular expression'; return; }
    }
    var sum = 0, count = 0, until = 0;
    nodes.forEach(function (node, i) {
      var hit = pattern !== null && node.frame && i > 0 && pattern.test(name(node));
      node.rect.classList.toggle('hit', hit);
      if (hit) { count += 1; if (i >= until) { sum += node.w; until = node.end; } }
    });
    matched.textContent = pattern ? 'Matched: ' + (100 * sum / nodes[0].w).toFixed(2) + ' % (' + count + (count === 1 ? ' block)' : ' blocks)') : '';
  }
  find.addEventListener('input', function () { search(find.value); });
  find.addEventListener('keydown', function (event) {
    event.stopPropagation();
    if (event.key === 'Escape') { find.value = ''; search(''); svg.focus(); }
    if (event.key === 'Enter') { svg.focus(); }
  });
  reset.addEventListener('click', function () { zoom(0); });
  reset.addEventListener('keydown', function (event) { if (event.key === 'Enter' || event.key === ' ') { zoom(0); svg.focus(); event.preventDefault(); event.stopPropagation(); } });

  function sibling(step) {
    for (var i = current + step; i >= 0 && i < nodes.length; i += step) {
      if (nodes[i].shown !== false && nodes[i].depth === nodes[current].depth) { return i; }
    }
    return current;
  }
  function child() {
    var best = current;
    for (var i = current + 1; i < nodes[current].end; i = nodes[i].end) {
      if (best === current || nodes[i].w > nodes[best].w) { best = i; }
    }
    return best;
  }
  svg.addEventListener('keydown', function (event) {
    var key = event.key;
    if (key === '/' || (key === 'f' && (event.ctrlKey || event.metaKey))) { find.focus(); event.preventDefault(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    if (key === 'Escape') {
      if (find.value) { find.value = ''; search(''); } else { zoom(0); }
    } else if (key === 'ArrowUp' || key === 'ArrowDown' || key === 'ArrowLeft' || key === 'ArrowRight') {
      if (current < 0) { select(zoomed); }
      else if (key === 'ArrowLeft') { select(sibling(-1)); }
      else if (key === 'ArrowRight') { select(sibling(1)); }
      else if ((key === 'ArrowUp') === upward) { select(child()); }
      else if (nodes[current].parent >= 0) { select(nodes[current].parent); }
    } else if ((key === 'Enter' || key === ' ') && current >= 0) { zoom(current); }
    else { return; }
    event.preventDefault();
  });
  svg.querySelectorAll('.script').forEach(function (part) { part.classList.remove('script', 'off'); });
  reset.classList.add('off');
})();
)js";
}

}  // namespace mapdiag::stacks
