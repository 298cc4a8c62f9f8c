import { beforeAll, describe, expect, test } from 'vitest';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { defaultPolicy } from '#shared/kube/admission/default-policy.ts';
import { servesMutatingPolicies } from '#test/cluster/support/control-plane/binaries.ts';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { contractHarness, pod, uniqueName } from '#test/contract/harness.ts';
import { ADMISSION } from '#test/contract/webhook-registrar.ts';
import { type AsUser, asUser } from '#test/cluster/admission/support/as-user.ts';
import { clusterObjects } from '#test/cluster/admission/support/cluster-objects.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { type ListedPod, listedPods } from './listed-pods.ts';
import { pausing } from './pausing.ts';

/** In each state of the webhook; `PLIMSOLL_CREATES=10000` for the full number. */
const CREATES = Number(process.env['PLIMSOLL_CREATES'] ?? 1_000);
const AT_ONCE = 16;
const TIMEOUT_MS = 60_000 + 100 * CREATES;
const PATIENCE_MS = 30_000;
const NAMESPACES = '/api/v1/namespaces';
const IN_TURN = 40;
const API_SERVER_SEES_MS = 1_500;
/** Far less than the API server waits for an answer. */
const A_TIMEOUT_MS = 2_000;
/** The API server waits so long for the answer about a deletion that is only counted. */
const COUNTING_TIMEOUT_MS = 1_000;
/**
 * A pod without a node is marked as deleted and removed; about the removal the API server asks again where its cache
 * lags behind the mark: now and then before 1.37, then always.
 */
const MAX_ASKED = 2;
/** On a machine that has other work, too. */
const NOISE_MS = 10;
/** As much of the time as a process has that shares its processor with twenty others. */
const STARVED = { stoppedMs: 950, runningMs: 50 };

/** What pods get is written down by hand in listed-pods.ts; it does not depend on what the webhook does. */
describe.skipIf(!hasCluster() || !servesMutatingPolicies(process.env))(
  'nothing forbidden gets in and nothing is without its default',
  () => {
    const api = contractHarness(clusterTarget());
    const webhooks = registeredWebhooks(api, { policies: [...rulePolicies(), ...defaultPolicy()] });
    const pods = listedPods(api, clusterObjects(api));

    beforeAll(async () => {
      await eventually(async () => {
        for (const each of [...pods.resolved(), ...pods.asked()])
          expect(await pods.create(each)).toEqual(each.expected);
        expect(await areEntriesNarrow()).toBe(true);
      }, PATIENCE_MS);
    }, 90_000);

    /** Both entries leave out what the API server has done, as the leader sees to (docs/contributing/decisions/defaults-in-api-server.md). */
    async function areEntriesNarrow(): Promise<boolean> {
      const kinds = ['mutating', 'validating'].map((kind) => `${ADMISSION}/${kind}webhookconfigurations/plimsoll`);
      const texts = await Promise.all(kinds.map(async (path) => (await api.get(path)).text));
      return texts.every((text) => text.includes('"left-to-webhook"'));
    }

    /** Creates pods of all kinds in turn, and meanwhile those that wait for the webhook; `midway` happens in the middle. */
    async function createAll(midway: () => void | Promise<void> = () => undefined): Promise<void> {
      const unlike = new Map<string, unknown>();
      const create = async (kind: ListedPod): Promise<void> => {
        const outcome = await pods.create(kind);
        if (!isLike(outcome, kind)) unlike.set(kind.what, outcome);
      };
      const asked = Promise.all(pods.asked().map(create));
      await inFlight(AT_ONCE, inTurn(pods.resolved(), CREATES).entries(), async ([turn, kind]) => {
        if (turn === Math.floor(CREATES / 2)) await midway();
        await create(kind);
      });
      await asked;
      expect([...unlike]).toEqual([]);
    }

    const webhook = pausing(() => webhooks.processes[0]?.component.pid());

    test('a namespace for which nothing is configured does not notice that the webhook hangs', async () => {
      const elsewhere = uniqueName('elsewhere');
      await api.post(NAMESPACES, { metadata: { name: elsewhere } });
      await eventually(async () => {
        const { text } = await api.get(`${ADMISSION}/mutatingwebhookconfigurations/plimsoll`);
        expect(text).toContain(`'${elsewhere}'`);
      }, PATIENCE_MS);
      await letTimePass(API_SERVER_SEES_MS, 'unseen');
      const [usual, hung] = await inTurns(() => createOne(elsewhere));
      console.log(`a create takes ${hung} ms while the webhook hangs, otherwise ${usual} ms (median of ${IN_TURN})`);
      expect(hung).toBeLessThan(usual * 1.1 + NOISE_MS);
    }, 90_000);

    test('what the webhook cannot refuse is not held up while it hangs', async () => {
      const limited = uniqueName('limited');
      const labels = { 'plimsoll.dev/disruption-limits': 'enforced' };
      await api.post(NAMESPACES, { metadata: { name: limited, labels } });
      const running = await Promise.all(Array.from({ length: 3 }, () => createOne(limited)));
      for (const name of running)
        await api.patch(`${NAMESPACES}/${limited}/pods/${name}/status`, { status: { phase: 'Running' } }, 'merge');
      const waiting = await Promise.all(Array.from({ length: 3 }, () => createOne(limited)));
      const scheduler = asUser(api.target.connection, 'system:kube-scheduler');
      webhook.stop();
      const took = await timed(async () => {
        for (const name of waiting) await letGo(scheduler, `${NAMESPACES}/${limited}/pods/${name}`);
      }).finally(() => webhook.resume());
      webhook.stop();
      const collection = await timed(async () => {
        const { status } = await api.remove(`${NAMESPACES}/${limited}/pods`);
        expect(status).toBe(200);
      }).finally(() => webhook.resume());
      console.log(
        `preemption of three waiting pods takes ${took} ms, a collection of three running pods ${collection} ms`,
      );
      expect(took).toBeLessThan(A_TIMEOUT_MS);
      expect(collection).toBeLessThan((running.length * MAX_ASKED + 1) * COUNTING_TIMEOUT_MS);
    }, 90_000);

    async function letGo(scheduler: AsUser, path: string): Promise<void> {
      const { status } = await scheduler('DELETE', `${path}?gracePeriodSeconds=0`);
      expect(status).toBe(200);
    }

    async function createOne(namespace: string): Promise<string> {
      const name = uniqueName('pod');
      const { status } = await api.post(`${NAMESPACES}/${namespace}/pods`, pod(name));
      expect(status).toBe(201);
      return name;
    }

    /** What something takes at the median, in milliseconds: usually, and while the webhook hangs, one after the other. */
    async function inTurns(something: () => Promise<unknown>): Promise<readonly [usual: number, hung: number]> {
      const took = { usual: [] as number[], hung: [] as number[] };
      while (took.hung.length < IN_TURN) {
        took.usual.push(await timed(something));
        webhook.stop();
        took.hung.push(await timed(something).finally(() => webhook.resume()));
      }
      return [medianOf(took.usual), medianOf(took.hung)];
    }

    test('while the webhook hangs, which is late by more than any timeout', { timeout: TIMEOUT_MS }, async () => {
      webhook.stop();
      await createAll().finally(() => webhook.resume());
    });

    test('while the webhook is starved of processor time', { timeout: TIMEOUT_MS }, async () => {
      await webhook.whileStarved(STARVED, () => createAll());
    });

    test('while the webhook is killed', { timeout: TIMEOUT_MS }, async () => {
      await createAll(() => webhooks.kill());
    });

    test('while there is no webhook', { timeout: TIMEOUT_MS }, async () => {
      await createAll();
    });
  },
);

async function timed(something: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await something();
  return Number((performance.now() - began).toFixed(1));
}

function medianOf(took: readonly number[]): number {
  return took.toSorted((left, right) => left - right)[Math.floor(took.length / 2)] ?? 0;
}

function inTurn<T>(kinds: readonly T[], count: number): readonly T[] {
  return Array.from({ length: Math.ceil(count / kinds.length) }, () => kinds)
    .flat()
    .slice(0, count);
}

function isLike(outcome: unknown, { expected }: ListedPod): boolean {
  try {
    expect(outcome).toEqual(expected);
    return true;
  } catch {
    return false;
  }
}
