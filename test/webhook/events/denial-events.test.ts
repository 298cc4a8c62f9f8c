import { describe, expect, test } from 'vitest';
import { because, refuse, type Refused } from '#shared/domain/admission/decision.ts';
import type { AdmissionCode } from '#shared/domain/admission/messages.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { EventRecord } from '#shared/kube/events/event-recorder.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { createDenialEvents } from '#webhook/events/denial-events.ts';
import { ALICE } from '#test/build/admission.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

const REQUEST: AdmissionRequest = {
  uid: 'u',
  operation: 'CREATE',
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: 'team-a',
  name: 'web',
  requester: ALICE,
  isDryRun: false,
};

function refusal(code: AdmissionCode, facts: Record<string, string>): Refused {
  return refuse(403, because(code, 'why', facts));
}

const BY_POLICY = refusal('ClassNotAllowed', { policy: 'p' });

function denialEventsWith(outcome: Outcome<unknown>) {
  const asked: string[] = [];
  const recorded: EventRecord[] = [];
  const request: KubeClient['request'] = ({ path }) => {
    asked.push(path);
    return Promise.resolve(outcome);
  };
  const clock = manualClock();
  const client: Pick<KubeClient, 'request'> = { request };
  const events = { record: (event: EventRecord) => void recorded.push(event) };
  const record = createDenialEvents({ client: client as KubeClient, events, clock });
  return { record, asked, recorded, clock };
}

const FOUND = { kind: 'ok', object: { metadata: { name: 'p', uid: 'uid-p' } } } as Outcome<unknown>;

describe('recording denial Events', () => {
  test('looks up the UID once a minute, however many requests are refused', async () => {
    const { record, asked, recorded, clock } = denialEventsWith(FOUND);
    for (let each = 0; each < 5; each += 1) record(REQUEST, BY_POLICY);
    await clock.advance(59_999);
    record(REQUEST, BY_POLICY);
    expect(asked).toEqual(['/apis/plimsoll.dev/v1alpha1/prioritypolicies/p']);
    await clock.advance(1);
    record(REQUEST, BY_POLICY);
    await clock.advance(0);
    expect(asked.length).toBe(2);
    expect(recorded.map(({ regarding }) => regarding.uid)).toEqual(Array(7).fill('uid-p'));
  });

  test('records nothing about an object that is gone or cannot be read', async () => {
    const { record, recorded, clock } = denialEventsWith({ kind: 'notFound', message: 'gone' });
    record(REQUEST, BY_POLICY);
    await clock.advance(0);
    expect(recorded).toEqual([]);
  });

  test('needs no look-up for a pod that stays', () => {
    const { record, asked, recorded } = denialEventsWith(FOUND);
    record(
      REQUEST,
      refusal('DisruptionUnwanted', { caller: 'scheduler', namespace: 'team-a', name: 'web', uid: 'uid-web' }),
    );
    expect([asked, recorded.length]).toEqual([[], 1]);
  });
});
