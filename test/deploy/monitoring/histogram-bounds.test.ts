import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createAgentMetrics } from '#agent/report/agent-metrics.ts';
import { extenderListener } from '#scheduler/extender/extender-listener.ts';
import { createQueueMetrics } from '#scheduler/queues/queue-metrics.ts';
import { createReschedulingMetrics } from '#scheduler/rescheduling/rescheduling-metrics.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics, type Metrics } from '#shared/runtime/metrics.ts';
import { repositoryMetrics } from '#tools/metrics/repository-metrics.ts';
import { createReviewMetrics } from '#webhook/server/review-metrics.ts';

const ALERTS = readFileSync('deploy/alerts/plimsoll.yaml', 'utf8');

/** The goals in seconds: only at a bound of a bucket can be said which share of observations meets a goal. */
const GOALS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  plimsoll_webhook_request_duration_seconds: {
    'p99 with one client, and at 1,000 requests a second': 0.005,
    'p99.9 at all times': 0.1,
    'timeout of the mutating webhook': 2,
    'timeout of the validating webhooks': 3,
  },
  plimsoll_extender_duration_seconds: {
    'p99 of a preemption, 500 nodes with 4 victims each': 0.005,
    'p99 of a preemption, 500 nodes with 30 victims each': 0.01,
    'work of one request, after which it is answered by protection alone': 0.05,
    'longest wait for the work of other requests': 0.5,
    'timeout of the extender in kube-scheduler': 2,
  },
  plimsoll_agent_loop_lateness_seconds: { 'p99 with 20 CPU hogs on the node': 0.02 },
  plimsoll_agent_pass_duration_seconds: {
    '300 files of pods': 0.001,
    'p99 of a crossing to its decision, of which a polling interval of 100 ms is the rest': 0.05,
  },
  plimsoll_rescheduling_plan_duration_seconds: {
    'one pass, 5,000 nodes with 30 pods each': 0.25,
    'the same with affinity and spread rules on half of the pods': 1,
  },
  plimsoll_queue_pass_duration_seconds: { '1,000 queues, 50,000 waiting and 150,000 running pods': 0.25 },
  plimsoll_queue_wait_seconds: { 'p50 from freed room to the gate': 0.3, 'p99 of the same': 2 },
  plimsoll_eviction_stats_age_seconds: {
    'p99 of a crossing to its decision near a threshold': 0.15,
    'far from a threshold': 1,
    'polling interval of the kubelet, to compare with': 10,
  },
};

/** Metrics whose histograms have a series from the start, so that the exposition shows their bounds. */
function observing(metrics: Metrics): Metrics {
  return {
    ...metrics,
    histogram: (name, help, labels = [], buckets) => {
      const histogram = metrics.histogram(name, help, labels, buckets);
      histogram.observe(0, Object.fromEntries(labels.map((label) => [label, ''])));
      return histogram;
    },
  };
}

/** The upper bounds of each histogram, as Prometheus reads them. */
async function servedBounds(): Promise<ReadonlyMap<string, readonly number[]>> {
  const metrics = observing(createMetrics('test'));
  createAgentMetrics(metrics);
  createReschedulingMetrics(metrics);
  createQueueMetrics(metrics);
  const log = createLog({ component: 'test', level: 'silent', format: 'json' });
  createReviewMetrics(metrics, log);
  extenderListener({ verbs: new Map(), bodyLimitBytes: 1, maxRequests: 1, clock: systemClock, log, metrics });
  const lines = (await metrics.text()).matchAll(/^(\w+)_bucket\{.*?le="([^"]+)".*\}/gm);
  const groups = Map.groupBy(lines, ([, name = '']) => name);
  return new Map(Array.from(groups, ([name, found]) => [name, found.map(([, , bound]) => Number(bound))]));
}

const bounds = await servedBounds();

describe('the buckets of histograms', () => {
  test('are known for every histogram of every process, and each has its goals', () => {
    const names = repositoryMetrics()
      .filter(({ type }) => type === 'histogram')
      .map(({ name }) => name);
    expect([...bounds.keys()].toSorted()).toEqual(names.toSorted());
    expect(Object.keys(GOALS).toSorted()).toEqual(names.toSorted());
  });

  test.each(Object.entries(GOALS))('%s has a bound at each of its goals', (name, goals) => {
    const missing = Object.entries(goals).filter(([, seconds]) => bounds.get(name)?.includes(seconds) !== true);
    expect(missing).toEqual([]);
  });

  test('have a bound where an alert compares a quantile', () => {
    const compared = Array.from(
      ALERTS.matchAll(/histogram_quantile\(.*?(plimsoll_\w+)_bucket.*> ([\d.]+)$/gm),
      ([, name = '', seconds]) => [name, Number(seconds)] as const,
    );
    expect(compared.length).toBe(ALERTS.split('histogram_quantile(').length - 1);
    expect(compared.filter(([name, seconds]) => bounds.get(name)?.includes(seconds) !== true)).toEqual([]);
  });
});
