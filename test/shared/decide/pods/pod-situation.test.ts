import { describe, expect, test } from 'vitest';
import { decodeDisruption } from '#shared/api/disruption.ts';
import { decodePodEvents } from '#shared/decide/pods/pod-events.ts';
import { podSituation } from '#shared/decide/pods/pod-situation.ts';
import { EVICTED } from '#test/cli/disruptions/example-disruptions.ts';

const WAITS = { type: 'plimsoll.dev/WaitsInQueue', status: 'True', reason: 'AtMaximum', message: 'waits for 1 cpu' };
const GATED = { schedulingGates: [{ name: 'plimsoll.dev/queue' }] };

function pod(spec: object, status: object = {}, metadata: object = {}): object {
  return { metadata: { name: 'web-1', uid: 'u', ...metadata }, spec, status };
}

const NOW = Date.parse('2026-06-01T00:00:00Z');

function event(reason: string, note: string, time = '2026-01-01T00:00:00Z', regarding: object = {}): object {
  const reportingController = 'plimsoll.dev/scheduler';
  return {
    reason,
    note,
    reportingController,
    eventTime: time,
    regarding: { kind: 'Pod', name: 'web-1', uid: 'u', ...regarding },
  };
}

function situation(raw: unknown, events: readonly object[] = [], removals: readonly object[] = [], name = 'web-1') {
  const records = removals.flatMap((each) => decodeDisruption(each) ?? []);
  return podSituation({ name, raw, events: decodePodEvents(events, NOW), removals: records });
}

describe('a pod that exists', () => {
  test.each<[string, object, readonly object[], string, string]>([
    ['on a node', pod({ nodeName: 'n1' }), [], 'Runs Placed', 'the pod is on n1'],
    ['in a queue, by its condition', pod(GATED, { conditions: [WAITS] }), [], 'Waits AtMaximum', 'waits for 1 cpu'],
    [
      'in a queue, by its last Event',
      pod(GATED),
      [event('WaitsInQueue', 'old'), event('WaitsInQueue', 'new', '2026-01-01T01:00:00Z')],
      ...(['Waits WaitsInQueue', 'new'] as const),
    ],
    ['in a queue, not told yet', pod(GATED), [], 'Waits WaitsInQueue', 'the leader of the queues has not said'],
    ['behind the gate of others', pod({ schedulingGates: [{ name: 'a/b' }] }), [], 'Waits Gated', 'a/b'],
    [
      'without room',
      pod({}, { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes' }] }),
      [],
      ...(['Waits Unschedulable', '0/3 nodes'] as const),
    ],
    ['that is new', pod({}), [], 'Waits NotTried', 'has not tried'],
    ['that terminates', pod({}, {}, { deletionTimestamp: 'x' }), [], 'Terminates Terminating', 'terminating'],
    [
      'that the kubelet evicted',
      pod({}, { phase: 'Failed', reason: 'Evicted', message: 'low' }),
      [],
      'Ended Evicted',
      'low',
    ],
  ])('%s', (_, raw, events, expected, text) => {
    const { state, because } = situation(raw, events);
    expect([`${state} ${because.code}`, because.text]).toEqual([expected, expect.stringContaining(text)]);
  });

  test.each<[string, object]>([
    ['in the future', { eventTime: '2036-01-01T00:00:00Z', metadata: { creationTimestamp: '2026-01-01T00:00:00Z' } }],
    ['under another name', { eventTime: '2026-03-01T00:00:00Z', reportingController: 'tenant.example.com' }],
    ['without a name', { eventTime: '2026-03-01T00:00:00Z', reportingController: undefined }],
  ])('an Event that someone wrote %s is not the last word', (_, change) => {
    const forged = { ...event('WaitsInQueue', 'forged'), ...change };
    const events = [...Array.from({ length: 50 }, () => forged), event('WaitsInQueue', 'true', '2026-02-01T00:00:00Z')];
    expect(situation(pod(GATED), events).because.text).toBe('true');
  });

  test('what a user writes in our words about its pod is not shown as ours, the words of kubelets are', () => {
    const byTenant = { reportingController: 'kubelet' };
    const told = ['Reclaimed', 'Rescheduled', 'Evicted'].map((reason) => ({ ...event(reason, 'x'), ...byTenant }));
    expect(situation(pod({ nodeName: 'n1' }), told).events.map(({ code }) => code)).toEqual(['Evicted']);
  });

  test('a condition that stays after the gate is off says nothing', () => {
    expect(situation(pod({ nodeName: 'n1' }, { conditions: [WAITS] })).state).toBe('Runs');
  });

  test.each(['state', 'lastState'])('a container that ran out of memory is named: %s', (field) => {
    const containerStatuses = [{ name: 'app', [field]: { terminated: { reason: 'OOMKilled' } } }, { name: 'other' }];
    expect(situation(pod({ nodeName: 'n1' }, { containerStatuses })).events).toEqual([
      { code: 'OOMKilled', text: expect.stringContaining('container app') as unknown, facts: {} },
    ]);
  });

  test('what happened to it is listed, one of each kind, the newest first, and nothing of another pod', () => {
    const { events } = situation(pod({ nodeName: 'n1' }), [
      event('EvictionFailed', 'first'),
      event('EvictionFailed', 'second', '2026-01-01T02:00:00Z'),
      event('FailedScheduling', 'no node', '2026-01-01T01:00:00Z'),
      event('Pulled', 'image'),
      event('Reclaimed', 'of an earlier pod of this name', '2026-01-01T03:00:00Z', { uid: 'other' }),
    ]);
    expect(events.map(({ code, text }) => [code, text])).toEqual([
      ['EvictionFailed', 'second'],
      ['FailedScheduling', 'no node'],
    ]);
  });
});

describe('a pod that does not exist', () => {
  const failed = (name: string, time?: string) =>
    event('FailedCreate', 'exceeded quota: high', time, { kind: 'ReplicaSet', name, uid: 'rs' });

  test('was removed, as its record says', () => {
    expect(situation(undefined, [], [EVICTED], 'nightly-7')).toMatchObject({
      state: 'Removed',
      because: {
        code: 'Eviction',
        text: 'it was evicted from node node-1: uses 2Gi memory, over its request of 1Gi, priority -10',
      },
    });
  });

  test.each(['web', 'web-5d', 'web-5d-abcde'])('%s was refused to its controller', (name) => {
    expect(situation(undefined, [failed('web-5d')], [], name)).toMatchObject({
      state: 'Refused',
      because: { text: 'ReplicaSet web-5d could not create it: exceeded quota: high' },
    });
  });

  test('a later refusal counts more than a removal, an earlier one less', () => {
    const at = (time: string) => situation(undefined, [failed('nightly', time)], [EVICTED], 'nightly-7').state;
    expect([at('2026-01-01T11:49:00Z'), at('2026-01-01T11:51:00Z')]).toEqual(['Removed', 'Refused']);
  });

  test('the refusal of another controller is not its own', () => {
    expect(situation(undefined, [failed('webshop')], [], 'web').state).toBe('Unknown');
  });

  test.each([[{}], [undefined], [[]], ['x'], [{ regarding: 1, eventTime: 2 }]])('Events may be anything: %o', (raw) => {
    expect(podSituation({ name: 'a', events: decodePodEvents([raw], NOW), removals: [] }).state).toBe('Unknown');
  });
});
