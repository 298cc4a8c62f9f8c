import { describe, expect, test } from 'vitest';
import { createEventRecorder, type EventRecorder, type EventRecord } from '#shared/kube/events/event-recorder.ts';
import { failureOf, type Outcome } from '#shared/kube/client/outcome.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

const POD = { apiVersion: 'v1', kind: 'Pod', namespace: 'team-a', name: 'web-1', uid: 'u-1' };
const EVICTED: EventRecord = { regarding: POD, type: 'Warning', reason: 'Evicted', note: 'low', action: 'Evicting' };
const OK: Outcome<unknown> = { kind: 'ok', object: { metadata: {} }, warnings: [] };

function rig(answer: () => Outcome<unknown> = () => OK, omit: readonly string[] = []) {
  const scripted = scriptedClient(answer);
  const clock = manualClock(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
  const metrics = createMetrics('test');
  const recorder = createEventRecorder({
    client: scripted.client,
    component: 'plimsoll.dev/agent',
    instance: 'node-a',
    clock,
    log: createLog({ component: 'test', level: 'silent', format: 'json' }),
    metrics,
    omit,
  });
  return { ...scripted, clock, recorder, metrics };
}

async function recordAll(recorder: EventRecorder, ...records: readonly EventRecord[]): Promise<void> {
  records.forEach((record) => recorder.record(record));
  await recorder.flush();
}

describe('createEventRecorder', () => {
  test('writes an events.k8s.io/v1 Event', async () => {
    const { recorder, requests } = rig();
    const related = { apiVersion: 'v1', kind: 'Node', name: 'node-a' };
    await recordAll(recorder, { ...EVICTED, annotations: { starved_resource: 'memory' }, related });
    expect(requests).toEqual([
      expect.objectContaining({
        method: 'POST',
        path: '/apis/events.k8s.io/v1/namespaces/team-a/events',
        body: {
          apiVersion: 'events.k8s.io/v1',
          kind: 'Event',
          metadata: {
            name: expect.stringMatching(/^web-1\.[0-9a-f-]{36}$/) as string,
            namespace: 'team-a',
            annotations: { starved_resource: 'memory' },
          },
          eventTime: '2026-01-02T03:04:05.678000Z',
          reportingController: 'plimsoll.dev/agent',
          reportingInstance: 'node-a',
          regarding: POD,
          related,
          type: 'Warning',
          reason: 'Evicted',
          action: 'Evicting',
          note: 'low',
        },
      }),
    ]);
  });

  test('an event about a node lives in default', async () => {
    const { recorder, requests } = rig();
    await recordAll(recorder, { ...EVICTED, regarding: { apiVersion: 'v1', kind: 'Node', name: 'node-a' } });
    expect(requests[0]?.path).toBe('/apis/events.k8s.io/v1/namespaces/default/events');
  });

  test('what repeats becomes a series, and after six quiet minutes a new event', async () => {
    const { recorder, requests, clock } = rig();
    await recordAll(recorder, EVICTED, EVICTED, { ...EVICTED, note: 'another' });
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
    expect(requests[1]).toMatchObject({
      contentType: 'application/merge-patch+json',
      body: { series: { count: 2, lastObservedTime: '2026-01-02T03:04:05.678000Z' } },
    });
    await clock.advance(361_000);
    await recordAll(recorder, EVICTED);
    expect(requests.at(-1)?.method).toBe('POST');
  });

  test('a series whose event was forgotten begins anew', async () => {
    const answers: Outcome<unknown>[] = [OK, failureOf(404, {}), OK];
    const { recorder, requests } = rig(() => answers.shift() ?? OK);
    await recordAll(recorder, EVICTED, EVICTED);
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
  });

  test('25 at once for an object, then one each five minutes; repetitions are still counted', async () => {
    const { recorder, requests, clock, metrics } = rig();
    for (let n = 0; n < 40; n += 1) recorder.record({ ...EVICTED, note: `note ${n}` });
    await recorder.flush();
    expect(requests).toHaveLength(25);
    expect(await metrics.text()).toContain('plimsoll_events_dropped_total{cause="rate-limit"} 15');
    for (let n = 0; n < 4; n += 1) recorder.record({ ...EVICTED, note: 'note 24' });
    await clock.advance(300_000);
    await recordAll(recorder, { ...EVICTED, note: 'note 24' });
    expect(requests.at(-1)?.body).toMatchObject({ series: { count: 6 } });
    await recordAll(recorder, { ...EVICTED, regarding: { ...POD, name: 'web-2' } });
    expect(requests).toHaveLength(27);
  });

  test('a note is cut at 1024 bytes, never inside a character', async () => {
    const { recorder, requests } = rig();
    await recordAll(recorder, { ...EVICTED, note: 'ä'.repeat(600) }, { ...EVICTED, note: `x${'ä'.repeat(600)}` });
    const notes = requests.map(({ body }) => (body as { note: string }).note);
    expect(notes).toEqual(['ä'.repeat(512), `x${'ä'.repeat(511)}`]);
  });

  test('leaves out what the configuration omits', async () => {
    const { recorder, requests } = rig(() => OK, ['Evicted']);
    await recordAll(recorder, EVICTED, { ...EVICTED, reason: 'EvictionFailed' });
    expect(requests).toHaveLength(1);
  });

  test('a server that refuses has no other effect', async () => {
    const { recorder, metrics } = rig(() => ({ kind: 'unreachable', message: 'down' }));
    await recordAll(recorder, EVICTED, EVICTED);
    expect(await metrics.text()).toContain('plimsoll_events_dropped_total{cause="refused"} 2');
  });
});
