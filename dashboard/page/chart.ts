/** One signal over time: the used share as an area, its threshold as a line, removals of pods as marks. */
import Plot from 'uplot';
import { age, dateTime, percent } from './format.ts';

const HEIGHT = 140;
/** `[age, gap]`: older points are further apart (dashboard/views/history.ts). Missing measurements are not drawn. */
const GAPS: readonly (readonly [number, number])[] = [
  [3_600_000, 300_000],
  [86_400_000, 2_700_000],
  [Infinity, 21_600_000],
];

/** `times` in milliseconds, `values` parallel to them, `marks` are times. */
export interface Figures {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  readonly lineRatio: number | undefined;
  readonly marks: readonly number[];
  /** The ends of the time axis, the same for all charts of a page; older readings are left out. */
  readonly from: number;
  readonly until: number;
  readonly now: number;
}

const NO_FIGURES: Figures = { times: [], values: [], lineRatio: undefined, marks: [], from: 0, until: 0, now: 0 };
const SHOWN = ['times', 'values', 'lineRatio', 'from', 'until'] as const;

export interface Chart {
  readonly mount: (element: Element | undefined) => void;
  readonly draw: (figures: Figures) => void;
  readonly close: () => void;
}

/** Keeps one chart in an element; `draw` updates its data. */
export function createChart(onCursor: (text: string) => void): Chart {
  let plot: Plot | undefined;
  let box: HTMLElement | undefined;
  let shown: Figures = NO_FIGURES;
  const resized = new ResizeObserver(() => plot?.setSize({ width: box?.clientWidth ?? 0, height: HEIGHT }));
  return {
    mount(element) {
      if (element === undefined || element === box) return;
      plot?.destroy();
      resized.disconnect();
      plot = undefined;
      box = element as HTMLElement;
      resized.observe(box);
    },
    draw(figures) {
      if (box === undefined || box.clientWidth === 0) return;
      const isSame = SHOWN.every((key) => shown[key] === figures[key]);
      if (plot !== undefined && isSame && String(shown.marks) === String(figures.marks)) return;
      shown = figures;
      if (plot === undefined)
        plot = new Plot(
          options(box, () => shown, onCursor),
          dataOf(figures),
          box,
        );
      else plot.setData(dataOf(figures));
    },
    close() {
      resized.disconnect();
      plot?.destroy();
    },
  };
}

function options(box: HTMLElement, figures: () => Figures, onCursor: (text: string) => void): Plot.Options {
  const colour = (name: string): string => getComputedStyle(box).getPropertyValue(name).trim();
  const axis = {
    stroke: () => colour('--quiet'),
    grid: { stroke: () => colour('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: box.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { x: { range: () => timeRange(figures()) }, y: { range: [0, 1] } },
    axes: [
      { ...axis, size: 34, space: 90, values: ({ scales }, splits) => splits.map(axisTime(scales['x'])) },
      { ...axis, size: 52, values: (_plot, splits) => splits.map(percent), splits: () => [0, 0.25, 0.5, 0.75, 1] },
    ],
    series: [
      {},
      {
        stroke: () => colour('--water'),
        fill: () => colour('--water-light'),
        width: 2,
        points: { show: false },
        ...STEPS,
      },
    ],
    hooks: {
      draw: [(plot) => drawLines(plot, figures(), colour)],
      setCursor: [({ cursor: { idx }, data }) => onCursor(cursorText(idx, data))],
    },
  };
}

/** A reading holds until the next one: a line between two would show a slope that nothing measured. */
const STEPS: Pick<Plot.Series, 'paths'> =
  Plot.paths.stepped === undefined ? {} : { paths: Plot.paths.stepped({ align: 1 }) };

/** In seconds. */
function timeRange({ from, until }: Figures): [number, number] {
  return [from / 1000, Math.max(until, from + 1000) / 1000];
}

const DAY_S = 86_400;
const DAYS = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const TIMES = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** Includes the day if the axis is longer than one. */
function axisTime({ min = 0, max = 0 }: Plot.Scale = {}): (seconds: number) => string {
  return (seconds) => (max - min > DAY_S ? DAYS : TIMES).format(seconds * 1000);
}

function cursorText(index: number | null | undefined, [times, values]: Plot.AlignedData): string {
  const [time, value] = [times[index ?? -1], values?.[index ?? -1]];
  if (time === undefined || value === undefined || value === null) return '';
  return `${dateTime(time * 1000)}: ${percent(value)} used`;
}

/** Seconds, with a gap wherever measurements are missing for long. */
function dataOf({ times, values, now, from }: Figures): Plot.AlignedData {
  const seconds: number[] = [];
  const ratios: (number | null)[] = [];
  times.forEach((time, index) => {
    const value = values[index];
    if (time < from || value === null || value === undefined) return;
    const last = seconds.at(-1);
    if (last !== undefined && time - last * 1000 > longestGap(now - time)) {
      seconds.push((last * 1000 + time) / 2000);
      ratios.push(null);
    }
    seconds.push(time / 1000);
    ratios.push(value);
  });
  return [seconds, ratios];
}

function longestGap(old: number): number {
  return GAPS.find(([least]) => old <= least)?.[1] ?? Infinity;
}

function drawLines(plot: Plot, { lineRatio, marks }: Figures, colour: (name: string) => string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.lineWidth = 2 * devicePixelRatio;
  if (lineRatio !== undefined) {
    ctx.strokeStyle = colour('--text');
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    const y = plot.valToPos(lineRatio, 'y', true);
    stroke(ctx, [bbox.left, y], [bbox.left + bbox.width, y]);
    drawLabel(plot, `threshold ${percent(lineRatio)}`, y, colour);
  }
  ctx.setLineDash([]);
  ctx.strokeStyle = colour('--hard');
  for (const at of marks) {
    const x = plot.valToPos(at / 1000, 'x', true);
    if (x >= bbox.left && x <= bbox.left + bbox.width) stroke(ctx, [x, bbox.top], [x, bbox.top + bbox.height]);
  }
  ctx.restore();
}

/** At the right end of a line: above it, or below it near the top. */
function drawLabel({ ctx, bbox }: Plot, text: string, y: number, colour: (name: string) => string): void {
  const size = 11 * devicePixelRatio;
  const isNearTop = y - bbox.top < 1.6 * size;
  ctx.font = `${size}px system-ui, sans-serif`;
  ctx.fillStyle = colour('--text');
  ctx.strokeStyle = colour('--panel');
  ctx.setLineDash([]);
  ctx.textAlign = 'right';
  ctx.textBaseline = isNearTop ? 'top' : 'bottom';
  const [x, line] = [bbox.left + bbox.width - size / 2, y + (isNearTop ? size : -size) / 3];
  // A halo, so that the curve does not cross the letters.
  ctx.strokeText(text, x, line);
  ctx.fillText(text, x, line);
}

type Point = readonly [x: number, y: number];

function stroke(ctx: CanvasRenderingContext2D, [fromX, fromY]: Point, [toX, toY]: Point): void {
  ctx.beginPath();
  ctx.moveTo(fromX, fromY);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}

/** A text description of the chart: now, the maximum with its time, the threshold, and removals. */
export function chartLabel(name: string, { times, values, lineRatio, marks, now }: Figures): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return `${name}: not measured yet`;
  const most = Math.max(...known);
  const at = times[values.indexOf(most)];
  const line = lineRatio === undefined ? '' : `, threshold at ${percent(lineRatio)}`;
  const gone =
    marks.length === 0 ? '' : `, ${marks.length} ${marks.length === 1 ? 'removal' : 'removals'} of pods marked`;
  return `${name}: ${percent(known.at(-1) ?? 0)} used now, at most ${percent(most)} at ${dateTime(at)} (${age(at, now)})${line}${gone}`;
}
