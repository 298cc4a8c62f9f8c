import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type * as Prometheus from 'prom-client';
import { buildInfo, type BuildInfo } from './build-info.ts';

/**
 * Imported by file: the library's main module also loads a push gateway and cluster support, 7 MiB that are not used
 * here.
 */
const require = createRequire(import.meta.url);
const Counter = require('prom-client/lib/counter') as typeof Prometheus.Counter;
const Gauge = require('prom-client/lib/gauge') as typeof Prometheus.Gauge;
const Histogram = require('prom-client/lib/histogram') as typeof Prometheus.Histogram;
const Registry = require('prom-client/lib/registry') as typeof Prometheus.Registry;
type Registry = Prometheus.Registry;

type MetricLabels = Readonly<Record<string, string | number>>;

export interface CounterMetric {
  add(labels?: MetricLabels, by?: number): void;
  /**
   * One series for hot paths: counted here, and passed to the library when the metrics are read. The same labels give
   * the same series.
   */
  series(labels: MetricLabels): CounterSeries;
}

export interface CounterSeries {
  add(): void;
}

export interface GaugeMetric {
  set(value: number, labels?: MetricLabels): void;
  remove(labels: MetricLabels): void;
  /** Removes every series, so that deleted objects are not exported forever. */
  reset(): void;
}

/** A counter that something else counts, such as the kernel: it is set to what was read. */
export type ReadCounterMetric = GaugeMetric;

export interface HistogramMetric {
  observe(value: number, labels?: MetricLabels): void;
  /**
   * One series for hot paths. It exists at once; observations reach the library in batches, which is several times as
   * fast. The same labels give the same series.
   */
  series(labels: MetricLabels): HistogramSeries;
}

export interface HistogramSeries {
  observe(value: number): void;
}

/** The metrics of one process. Two requests for the same name return the same metric. */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): CounterMetric;
  readCounter(name: string, help: string, labels?: readonly string[]): ReadCounterMetric;
  gauge(name: string, help: string, labels?: readonly string[]): GaugeMetric;
  histogram(name: string, help: string, labels?: readonly string[], buckets?: readonly number[]): HistogramMetric;
  /** The exposition in Prometheus text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** From a tenth of a millisecond to three seconds: the range of our own response times. */
export const FAST_BUCKETS_SECONDS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3,
];

const BUILD_LABELS: readonly (keyof BuildInfo)[] = ['component', 'version', 'commit', 'node_version'];

/** A new registry that contains `plimsoll_build_info`. */
export function createMetrics(component: string): Metrics {
  const registry = new Registry();
  const flushes: Flush[] = [];
  const metrics: Metrics = {
    counter: (name, help, labels = []) => counter(registry, { name, help, labels }, flushes),
    readCounter: (name, help, labels = []) => readCounter(registry, { name, help, labels }),
    gauge: (name, help, labels = []) => gauge(registry, { name, help, labels }),
    histogram: (name, help, labels = [], buckets = FAST_BUCKETS_SECONDS) =>
      histogram(registry, { name, help, labels, buckets }, flushes),
    // Encoding 300 series takes a millisecond, and any client of the port may request them on every connection.
    text: onceATurn(() => {
      for (const flush of flushes) flush();
      return registry.metrics();
    }),
    contentType: registry.contentType,
  };
  metrics
    .gauge('plimsoll_build_info', 'Version of this process; always 1', BUILD_LABELS)
    .set(1, { ...buildInfo(component) });
  return metrics;
}

interface Definition {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** Passes the collected values of a series to the library. */
type Flush = () => void;

const BATCH = 256;

function counter(registry: Registry, definition: Definition, flushes: Flush[]): CounterMetric {
  const metric = counterOf(registry, definition);
  return {
    add: (labels = {}, by = 1) => metric.inc(labels, by),
    series: keptSeries(definition, (labels) => {
      let waiting = 0;
      flushes.push(() => {
        metric.inc(labels, waiting);
        waiting = 0;
      });
      return { add: () => void (waiting += 1) };
    }),
  };
}

function readCounter(registry: Registry, definition: Definition): ReadCounterMetric {
  const metric = counterOf(registry, definition);
  return {
    set: (value, labels = {}) => {
      metric.remove(labels);
      metric.inc(labels, value);
    },
    remove: (labels) => metric.remove(labels),
    reset: () => metric.reset(),
  };
}

function counterOf(registry: Registry, definition: Definition): Prometheus.Counter {
  if (!definition.name.endsWith('_total')) throw new Error(`Counter "${definition.name}" must end in _total`);
  return existing(registry, definition, Counter) ?? new Counter(settings(registry, definition));
}

function gauge(registry: Registry, definition: Definition): GaugeMetric {
  const metric = existing(registry, definition, Gauge) ?? new Gauge(settings(registry, definition));
  return {
    set: (value, labels = {}) => metric.set(labels, value),
    remove: (labels) => metric.remove(labels),
    reset: () => metric.reset(),
  };
}

function histogram(
  registry: Registry,
  definition: Definition & { readonly buckets: readonly number[] },
  flushes: Flush[],
): HistogramMetric {
  const metric =
    existing(registry, definition, Histogram) ??
    new Histogram({ ...settings(registry, definition), buckets: [...definition.buckets] });
  return {
    observe: (value, labels = {}) => metric.observe(labels, value),
    series: keptSeries(definition, (labels) => {
      metric.zero(labels);
      const waiting: number[] = [];
      const flush = (): void => {
        for (const value of waiting) metric.observe(labels, value);
        waiting.length = 0;
      };
      flushes.push(flush);
      return {
        observe: (value) => {
          if (waiting.push(value) === BATCH) flush();
        },
      };
    }),
  };
}

/** A series, and those whose labels have one more value. */
interface SeriesNode<S> {
  series: S | undefined;
  readonly byNext: Map<unknown, SeriesNode<S>>;
}

/** Makes each series once. A map for each label, because a key made of all values takes three times as long. */
function keptSeries<S>({ labels: names }: Definition, make: (labels: MetricLabels) => S): (labels: MetricLabels) => S {
  const all: SeriesNode<S> = { series: undefined, byNext: new Map() };
  return (labels) => {
    let kept = all;
    for (const name of names) kept = nextKept(kept, labels[name]);
    return (kept.series ??= make(labels));
  };
}

function nextKept<S>({ byNext }: SeriesNode<S>, value: unknown): SeriesNode<S> {
  const known = byNext.get(value);
  if (known !== undefined) return known;
  const added: SeriesNode<S> = { series: undefined, byNext: new Map() };
  byNext.set(value, added);
  return added;
}

function settings(registry: Registry, { name, help, labels }: Definition) {
  if (!/^(plimsoll|workqueue)_[a-z0-9_]+$/.test(name)) throw new Error(`Metric "${name}" must be named plimsoll_…`);
  if (help.endsWith('.')) throw new Error(`Help of metric "${name}" must not end in a full stop`);
  return { name, help, labelNames: [...labels], registers: [registry] };
}

function existing<T>(registry: Registry, { name }: Definition, kind: new (...args: never[]) => T): T | undefined {
  const found: unknown = registry.getSingleMetric(name);
  if (found === undefined || found instanceof kind) return found;
  throw new Error(`Metric "${name}" exists already as another kind`);
}

/**
 * Runs a task once for all calls in one turn of the event loop, after that turn: many calls at once then cost little
 * more than one.
 */
export function onceATurn<T>(task: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= nextTurn()
      .then(task)
      .finally(() => (running = undefined));
    return running;
  };
}
