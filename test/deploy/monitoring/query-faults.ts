import type { MetricDefinition } from '#tools/metrics/metric-definition.ts';
import { repositoryMetrics } from '#tools/metrics/repository-metrics.ts';

/** What Prometheus and deploy/components/pod-monitors add to every series. */
const TARGET_LABELS = ['cluster', 'node', 'instance', 'job', 'namespace', 'pod', 'container'];

/** Metrics of Kubernetes that alerts use, with their labels: kube-state-metrics and the API server. */
const OF_KUBERNETES: Readonly<Record<string, readonly string[]>> = {
  kube_daemonset_status_desired_number_scheduled: ['namespace', 'daemonset'],
  kube_daemonset_status_number_ready: ['namespace', 'daemonset'],
  apiserver_admission_webhook_rejection_count: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  apiserver_admission_webhook_fail_open_count: ['name', 'type'],
};

interface Series {
  readonly labels: readonly string[];
  readonly isCounter: boolean;
}

/** The names of the series: a histogram has three. */
function seriesNames({ name, type }: MetricDefinition): readonly string[] {
  return type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

const KNOWN: ReadonlyMap<string, Series> = new Map([
  ...repositoryMetrics().flatMap((metric) =>
    seriesNames(metric).map((name): [string, Series] => [
      name,
      {
        labels: [...metric.labels, ...(metric.type === 'histogram' ? ['le'] : [])],
        isCounter: metric.type !== 'gauge',
      },
    ]),
  ),
  ...Object.entries(OF_KUBERNETES).map(([name, labels]): [string, Series] => [
    name,
    { labels, isCounter: name.endsWith('_count') },
  ]),
]);

const SELECTOR = /\b([a-z_:][a-z0-9_:]*)\s*(?:\{([^}]*)\})?\s*(\[[^\]]*\])?/g;
const COUNTER_FUNCTIONS = /\b(?:rate|increase|irate|changes)\($/;

/** What a query asks that no process exports: unknown names or labels, counters read as gauges, gauges as counters. */
export function queryFaults(query: string): readonly string[] {
  return [...query.matchAll(SELECTOR)].flatMap(({ 0: whole, 1: name = '', 2: matchers, 3: range, index }) => {
    const isSelector = /^(?:plimsoll|kube|apiserver)_/.test(name) || matchers !== undefined || range !== undefined;
    if (!isSelector) return [];
    const series = KNOWN.get(name);
    if (series === undefined) return [`no process exports ${name}`];
    return [...unknownLabels(name, matchers, series), ...wrongUse(whole, query.slice(0, index), series)];
  });
}

function unknownLabels(name: string, matchers: string | undefined, { labels }: Series): readonly string[] {
  const used = [...(matchers ?? '').matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label);
  return used
    .filter((label) => !labels.includes(label) && !TARGET_LABELS.includes(label))
    .map((label) => `${name} has no label ${label}`);
}

function wrongUse(selector: string, before: string, { isCounter }: Series): readonly string[] {
  const isCounted = COUNTER_FUNCTIONS.test(before);
  if (isCounted === isCounter) return [];
  return [isCounter ? `the counter ${selector} needs rate or increase` : `${selector} is no counter`];
}

/** The labels that `by (…)` and legends use must come from somewhere: a metric of the query or its target. */
export function groupingFaults(query: string): readonly string[] {
  const names = [...query.matchAll(SELECTOR)].flatMap(([, name = '']) => KNOWN.get(name)?.labels ?? []);
  const groups = [...query.matchAll(/\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(','),
  );
  return groups
    .map((label) => label.trim())
    .filter((label) => label !== '' && !names.includes(label) && !TARGET_LABELS.includes(label))
    .map((label) => `nothing in the query has the label ${label}`);
}
