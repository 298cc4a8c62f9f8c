/** One signal over time: the used share as an area, its threshold as a line. */
import { element, shape } from './dom.js';
import { percent, timeOfDay } from './format.js';

const WIDTH = 600;
const HEIGHT = 96;
const LONGEST_GAP_MS = 300_000;

/** `times` in milliseconds, `values` parallel to them, null where nothing was measured. */
export function chart(times, values, lineRatio, label) {
  const svg = shape('svg', {
    class: 'chart',
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
  });
  svg.setAttribute('aria-label', label);
  const [from, to] = [times[0] ?? 0, times.at(-1) ?? 1];
  const x = (time) => (to === from ? WIDTH : ((time - from) / (to - from)) * WIDTH);
  const y = (ratio) => HEIGHT - ratio * HEIGHT;
  for (const quarter of [0.25, 0.5, 0.75]) {
    svg.append(
      shape('line', {
        class: 'grid',
        x1: 0,
        x2: WIDTH,
        y1: y(quarter),
        y2: y(quarter),
        'vector-effect': 'non-scaling-stroke',
      }),
    );
  }
  for (const run of runsOf(times, values)) {
    const points = run.map(([time, ratio]) => `${x(time).toFixed(1)},${y(ratio).toFixed(1)}`);
    const [first, last] = [x(run[0][0]).toFixed(1), x(run.at(-1)[0]).toFixed(1)];
    svg.append(shape('polygon', { class: 'area', points: `${first},${HEIGHT} ${points.join(' ')} ${last},${HEIGHT}` }));
    svg.append(shape('polyline', { class: 'curve', points: points.join(' '), 'vector-effect': 'non-scaling-stroke' }));
  }
  if (lineRatio !== undefined) {
    svg.append(
      shape('line', {
        class: 'mark',
        x1: 0,
        x2: WIDTH,
        y1: y(lineRatio),
        y2: y(lineRatio),
        'vector-effect': 'non-scaling-stroke',
      }),
    );
  }
  const span = element(
    'div',
    'axis quiet small',
    element('span', '', timeOfDay(from)),
    element('span', '', timeOfDay(to)),
  );
  return element('figure', 'chart-box', svg, span);
}

/** Stretches without a gap: what was not measured is not drawn. */
function runsOf(times, values) {
  const runs = [];
  let run = [];
  times.forEach((time, index) => {
    const value = values[index];
    const isGap = run.length > 0 && time - run.at(-1)[0] > LONGEST_GAP_MS;
    if (isGap || value === null || value === undefined) {
      if (run.length > 1) runs.push(run);
      run = [];
    }
    if (value !== null && value !== undefined) run.push([time, value]);
  });
  return run.length > 1 ? [...runs, run] : runs;
}

export function chartLabel(name, values, lineRatio) {
  const known = values.filter((value) => value !== null && value !== undefined);
  if (known.length === 0) return `${name}: not measured yet`;
  const line = lineRatio === undefined ? '' : `, threshold at ${percent(lineRatio)}`;
  return `${name}: ${percent(known.at(-1))} used now, at most ${percent(Math.max(...known))} in this time${line}`;
}
