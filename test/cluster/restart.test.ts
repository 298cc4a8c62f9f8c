import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LeaseTerm, runWithLease } from '#shared/kube/lease/leader-lease.ts';
import { createObject, getObject, patchObject } from '#shared/kube/client/objects.ts';
import { createReflector, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { CONFIG_MAPS } from '#shared/kube/resource.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { at } from '#test/contract/harness.ts';
import { ownCluster, whyNoOwnCluster } from './support/control-plane/own-cluster.ts';
import { seededJitter } from '#test/fakes/jitter.ts';
import { aborted, eventually } from '#test/build/waiting.ts';

const log = createLog({ component: 'test', level: 'silent', format: 'json' });
const NAMESPACE = 'default';
const FOLLOWED = { resource: CONFIG_MAPS, namespace: NAMESPACE, name: 'followed' };

const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`when the API server or etcd is killed in mid-work${why ?? ''}`, () => {
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const own = ownCluster();
  let reflector: Reflector<unknown>;

  beforeAll(async () => {
    const { admin: client } = own();
    reflector = createReflector({
      client,
      resource: CONFIG_MAPS,
      namespace: NAMESPACE,
      fieldSelector: 'metadata.name=followed',
      slim: (raw) => at(raw, 'data.value'),
      clock: systemClock,
      random: seededJitter(),
      log,
    });
    const object = { metadata: { name: 'followed' }, data: { value: '0' } };
    expect(await createObject(client, { resource: CONFIG_MAPS, namespace: NAMESPACE }, object)).toMatchObject({
      kind: 'ok',
    });
    running.push(reflector.run(stop.signal));
    await reflector.synced;
  });
  afterAll(async () => {
    stop.abort();
    await Promise.all(running);
  });

  async function write(value: string): Promise<void> {
    await eventually(async () => {
      expect((await patchObject(own().admin, FOLLOWED, { data: { value } }, { type: 'merge' })).kind).toBe('ok');
    }, 40_000);
  }

  async function followed(value: string): Promise<void> {
    await eventually(() => {
      expect(reflector.get(`${NAMESPACE}/followed`)).toBe(value);
      return Promise.resolve();
    }, 60_000);
  }

  test.each(['kube-apiserver', 'etcd'] as const)('a reflector finds its way back after %s', async (name) => {
    const { admin, cluster } = own();
    await cluster.stop(name);
    await eventually(async () => expect((await getObject(admin, FOLLOWED, { timeoutMs: 1_000 })).kind).not.toBe('ok'));
    await cluster.start(name);
    await write(`after ${name}`);
    await followed(`after ${name}`);
  });

  test('a leader that loses the API server stops before its lease can end, and leads again in a new term', async () => {
    const { admin: client, cluster } = own();
    const terms: LeaseTerm[] = [];
    const ends: number[] = [];
    const contending = new AbortController();
    const done = runWithLease(
      {
        client,
        name: 'restart',
        namespace: NAMESPACE,
        identity: 'only',
        clock: systemClock,
        random: seededJitter(),
        log,
        durationMs: 3_000,
        renewDeadlineMs: 2_000,
        retryMs: 200,
        isWatched: false,
        lead: async (signal, term) => {
          terms.push(term);
          await aborted(signal);
          ends.push(systemClock.monotonic());
        },
      },
      contending.signal,
    );
    await reaches(terms, 1);
    const killedAt = systemClock.monotonic();
    await cluster.stop('kube-apiserver');
    await reaches(ends, 1);
    expect([terms[0]?.isHeld(), (ends[0] ?? Infinity) - killedAt < 3_000]).toEqual([false, true]);
    await cluster.start('kube-apiserver');
    await reaches(terms, 2);
    expect(terms[1]?.fencingToken).not.toBe(terms[0]?.fencingToken);
    contending.abort();
    await done;
  });
});

function reaches(list: readonly unknown[], count: number): Promise<void> {
  return eventually(() => {
    expect(list).toHaveLength(count);
    return Promise.resolve();
  }, 40_000);
}
