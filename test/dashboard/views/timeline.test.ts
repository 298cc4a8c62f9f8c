import { describe, expect, test } from 'vitest';
import { nodeView } from '#dashboard/views/node-view.ts';
import { recordView } from '#dashboard/views/preemptions.ts';
import { type EventEntry, eventEntry, recordedRemovals, timelineOf } from '#dashboard/views/timeline.ts';
import type { NodeView } from '#dashboard/views/view.ts';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';

const AT = '2026-01-01T11:00:00Z';
const NOW = Date.parse('2026-01-01T12:00:00Z');

function event(reason: string, fields: object = {}) {
  const regarding = { kind: 'Pod', namespace: 'team-b', name: 'hog' };
  const metadata = { name: 'e', namespace: 'team-b' };
  return eventEntry({ metadata, reason, note: 'why ', regarding, eventTime: AT, ...fields }, NOW);
}

function nodeWith(evictions: readonly object[]) {
  const status = { observedAt: AT, evictions };
  const view = nodeView(decodeNodePressure({ metadata: { name: 'node-1' }, status }), Date.parse(AT));
  return view === undefined ? [] : [view];
}

function shown(nodes: readonly NodeView[], events: readonly EventEntry[], records: readonly EventEntry[] = []) {
  return timelineOf({ nodes, events, recorded: recordedRemovals(records) });
}

/** What a process of ours has recorded of one removal. */
function record(cause: string, fields: object = {}) {
  const because = { code: 'Judged', text: 'made room for class high', facts: {} };
  const spec = { pod: 'hog', podUID: 'u', node: 'node-1', removedAt: AT, cause, because, ...fields };
  return recordView({ metadata: { name: 'hog-1', namespace: 'team-b' }, spec, status: { count: 3 } })?.entry;
}

describe('the timeline', () => {
  test.each([
    ['Evicted', 'eviction'],
    ['EvictionDryRun', 'eviction'],
    ['Preempted', 'preemption'],
    ['SystemOOM', 'oom'],
    ['OOMKilling', 'oom'],
    ['EvictionThresholdMet', 'pressure'],
    ['EvictionLoopDetected', 'problem'],
    ['PreemptionLoopDetected', 'problem'],
    ['OutOfcpu', 'problem'],
    ['NodePorts', 'problem'],
    ['FailedCreate', 'refusal'],
    ['QuotaExceeded', 'refusal'],
    ['PolicyViolated', 'refusal'],
  ])('shows %s as %s, each kind of removal under its own word', (reason, kind) => {
    expect(event(reason)).toMatchObject({ kind, about: 'Pod team-b/hog', namespace: 'team-b', why: 'why' });
  });

  test('leaves other Events out, and reads what is broken as far as it goes', () => {
    expect([event('Scheduled'), event('constructor'), event('')]).toEqual([undefined, undefined, undefined]);
    expect(event('Evicted', { regarding: 7, eventTime: 'soon', series: [] })).toMatchObject({
      at: 0,
      namespace: '',
      count: 1,
    });
  });

  test('a series is one entry with its count and its last time', () => {
    const series = { count: 3, lastObservedTime: '2026-01-01T11:05:00.000000Z' };
    expect(event('Evicted', { series })).toMatchObject({ count: 3, at: Date.parse(series.lastObservedTime) });
  });

  test('the newest stands first, and an eviction of an agent stands once, from its NodePressure', () => {
    const nodes = nodeWith([
      { pod: 'team-b/hog', uid: 'u', outcome: 'evicted', requestedAt: AT },
      { pod: 'team-b/other', uid: 'v', outcome: 'pretended (dry run)', requestedAt: '2026-01-01T10:00:00Z' },
    ]);
    const own = event('Evicted', { reportingController: 'plimsoll.dev/agent' });
    const kubelets = event('Evicted', { reportingController: 'kubelet', eventTime: '2026-01-01T11:30:00Z' });
    const entries = shown(
      nodes,
      [own, kubelets].filter((entry) => entry !== undefined),
    );
    expect(entries.map(({ about, from, isDryRun }) => [about, from, isDryRun])).toEqual([
      ['Pod team-b/hog', 'kubelet', false],
      ['Pod team-b/hog', 'plimsoll.dev/agent', false],
      ['Pod team-b/other', 'plimsoll.dev/agent', true],
    ]);
  });

  test('no Event is later than now: a time far ahead gives way to one that the API server wrote', () => {
    const seconds = (ahead: number) => new Date(NOW + ahead * 1_000).toISOString();
    const metadata = { name: 'e', namespace: 'team-b', creationTimestamp: AT };
    const timeOf = (fields: object) => event('Evicted', { metadata, ...fields })?.at;
    expect(timeOf({ eventTime: '2099-01-01T00:00:00Z' })).toBe(Date.parse(AT));
    expect(timeOf({ series: { count: 2, lastObservedTime: seconds(61) } })).toBe(Date.parse(AT));
    // A clock that is a little ahead tells the truth.
    expect(timeOf({ eventTime: seconds(60) })).toBe(NOW);
    expect(timeOf({ eventTime: seconds(61), metadata: { ...metadata, creationTimestamp: seconds(90) } })).toBe(NOW);
  });

  test.each([
    ['of the kubelet, where the API server keeps those of nodes', 'default', {}, true],
    ['of the system', 'kube-system', {}, true],
    ['that a tenant writes in the name of the agent', 'team-b', { namespace: 'team-b' }, false],
    ['that a tenant writes without a namespace', 'team-b', {}, false],
    ['for which a namespace is claimed', 'default', { namespace: 'default' }, false],
  ])('an Event about a Node %s', (_, namespace, claimed, isShown) => {
    const regarding = { kind: 'Node', name: 'node-1', ...claimed };
    const reportingController = 'plimsoll.dev/agent';
    const found = event('EvictionThresholdMet', { metadata: { name: 'e', namespace }, regarding, reportingController });
    expect(found !== undefined).toBe(isShown);
  });

  test.each([
    ['EvictionFailed', 'tenant.example/app', false],
    ['EvictionFailed', 'plimsoll.dev/agent', true],
    ['EvictionThresholdMet', 'kubelet', true],
    ['EvictionLoopDetected', 'plimsoll.dev/scheduler', true],
    ['EvictionLoopDetected', 'kubelet', false],
    ['SystemOOM', 'kubelet', true],
  ])('%s about a Node from %s, in the namespace of such Events', (reason, reportingController, isShown) => {
    const metadata = { name: 'e', namespace: 'default' };
    const found = event(reason, { metadata, regarding: { kind: 'Node', name: 'node-1' }, reportingController });
    expect(found !== undefined).toBe(isShown);
  });

  test('Events of one namespace leave room for others, whatever they are about', () => {
    const eventsOf = (namespace: string, count: number, eventTime: string) =>
      Array.from({ length: count }, (_, index) =>
        event('SystemOOM', {
          metadata: { name: 'e', namespace },
          regarding: { kind: 'Pod', namespace, name: `pod-${index}` },
          eventTime,
        }),
      ).filter((entry) => entry !== undefined);
    const flood = eventsOf('team-a', 250, '2026-01-01T11:59:00Z');
    const names = (entries: readonly { readonly about: string }[]) => entries.map(({ about }) => about);
    const both = names(shown([], [...flood, ...eventsOf('team-b', 60, AT)]));
    expect(both).toHaveLength(200);
    expect(both.filter((about) => about.startsWith('Pod team-b'))).toHaveLength(50);
    expect(both.at(-1)).toMatch(/^Pod team-b/);
    expect(names(shown([], flood))).toHaveLength(200);
    expect(Object.keys(shown([], flood)[0] ?? {})).not.toContain('writtenIn');
  });

  test.each([
    ['Preemption', 'preemption'],
    ['Eviction', 'eviction'],
    ['KubeletEviction', 'eviction'],
    ['OOMKill', 'oom'],
    ['Rescheduling', 'rescheduling'],
    ['Reclaim', 'reclaim'],
    ['Drain', 'drain'],
    ['Taint', 'taint'],
    ['Deletion', 'deletion'],
    ['NodeLost', 'node-lost'],
    ['Unknown', 'removal'],
    ['invented', 'removal'],
  ])('a record of cause %s is an entry %s', (cause, kind) => {
    expect(record(cause, { requestedBy: 'kube-scheduler' })).toMatchObject({
      at: Date.parse(AT),
      kind,
      about: 'Pod team-b/hog',
      namespace: 'team-b',
      node: 'node-1',
      count: 3,
      why: 'made room for class high',
      from: 'kube-scheduler',
      isDryRun: false,
    });
  });

  test('what is no record is left out', () => {
    expect(recordView({ metadata: { name: 'hog-1', namespace: 'team-b' }, spec: { pod: 7 } })).toBeUndefined();
  });

  test('a removal stands once, as its record, days after its Events have ended too', () => {
    const nodes = nodeWith([{ pod: 'team-b/hog', uid: 'u', outcome: 'evicted', requestedAt: '2026-01-01T11:00:02Z' }]);
    const told = [event('Evicted', { reportingController: 'plimsoll.dev/agent' }), event('Preempted')];
    const before = record('Deletion', { removedAt: '2025-12-28T00:00:00Z' });
    const records = [record('Eviction'), before].filter((entry) => entry !== undefined);
    const events = told.filter((entry) => entry !== undefined);
    const reasons = (found: readonly { readonly reason: string }[]) => found.map(({ reason }) => reason);
    expect(reasons(shown(nodes, events, records))).toEqual(['Eviction', 'Deletion']);
    expect(reasons(shown(nodes, events))).toHaveLength(2);
  });

  test('a record hides no pressure, no problem, no dry run, and no removal of a later pod of the same name', () => {
    const later = { eventTime: '2026-01-01T11:10:01Z' };
    const told = [event('EvictionThresholdMet'), event('OutOfcpu'), event('EvictionDryRun'), event('Preempted', later)];
    const events = told.filter((entry) => entry !== undefined);
    const records = [record('Preemption')].filter((entry) => entry !== undefined);
    expect(shown([], events, records)).toHaveLength(5);
  });
});
