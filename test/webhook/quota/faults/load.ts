import type { KubeClient } from '#shared/kube/client/client.ts';
import { createObject, patchObject } from '#shared/kube/client/objects.ts';
import type { FailureKind, Outcome } from '#shared/kube/client/outcome.ts';
import { PODS, resourcePath } from '#shared/kube/resource.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { RandomSource } from '#test/fakes/random-source.ts';
import { CLASHING_PREFIX, DOOMED_CLASS, ELSEWHERE, TEAMS } from './fault-cluster.ts';
import { letTimePass } from '#test/build/waiting.ts';

export interface LoadOptions {
  /** Requests to create a pod, repetitions included. */
  readonly creates: number;
  readonly concurrency: number;
  readonly random: RandomSource;
}

/** What became of the requests to create a pod. */
export interface LoadReport {
  readonly outcomes: Readonly<Partial<Record<FailureKind | 'ok', number>>>;
  readonly dryRuns: number;
  readonly resizes: number;
  readonly longestMs: number;
}

interface Name {
  readonly namespace: string;
  readonly name: string;
}

/** Kinds of request by how often they come. */
const KINDS = [
  ['plain', 0.76],
  ['generated', 0.12],
  ['dryRun', 0.08],
  ['nameTaken', 0.01],
  ['doomed', 0.01],
  ['elsewhere', 0.02],
] as const;
type Kind = (typeof KINDS)[number][0];

const RETRIED: ReadonlySet<string> = new Set<FailureKind>(['tooManyRequests', 'serverError', 'timeout', 'unreachable']);
const MAX_ATTEMPTS = 6;
const LIFE_MS = 1_500;
/** Nothing of this name may ever be stored. */
export const DRY_RUN_PREFIX = 'dry-run-';

/** Creates, resizes, ends and deletes pods as fast as the cluster takes it; some of them stay. */
export async function runLoad(client: KubeClient, { creates, concurrency, random }: LoadOptions): Promise<LoadReport> {
  const outcomes: Partial<Record<FailureKind | 'ok', number>> = {};
  const lives = new Set<Promise<void>>();
  let newest: Name | undefined;
  const counts = { sent: 0, dryRuns: 0, resizes: 0, longestMs: 0 };

  async function createOne(): Promise<void> {
    const kind = pickKind(random);
    const dryRun = kind === 'dryRun';
    const { namespace, pod } = podFor(kind, newest, random, counts.sent);
    for (let attempt = 0; attempt < MAX_ATTEMPTS && counts.sent < creates; attempt += 1) {
      const outcome = await send(namespace, pod, dryRun);
      if (outcome.kind === 'ok' && !dryRun) begin(namespace, outcome.object);
      if (!RETRIED.has(outcome.kind)) return;
      await letTimePass(50 + random.below(250), 'load');
    }
  }

  async function send(namespace: string, pod: PodManifest, dryRun: boolean): Promise<Outcome<KubeObject>> {
    counts.sent += 1;
    if (dryRun) counts.dryRuns += 1;
    const startedAt = clock.monotonic();
    const outcome = await createObject(client, { resource: PODS, namespace }, pod, { dryRun });
    counts.longestMs = Math.max(counts.longestMs, clock.monotonic() - startedAt);
    outcomes[outcome.kind] = (outcomes[outcome.kind] ?? 0) + 1;
    return outcome;
  }

  function begin(namespace: string, { metadata: { name = '' } }: KubeObject): void {
    newest = { namespace, name };
    const life = live(namespace, name).finally(() => lives.delete(life));
    lives.add(life);
  }

  /** A fifth is deleted at once, before any replica can have counted it. */
  async function live(namespace: string, name: string): Promise<void> {
    const address = { resource: PODS, namespace, name };
    if (random.chance(0.2)) return remove(namespace, name);
    await letTimePass(-Math.log(1 - random.next()) * LIFE_MS, 'load');
    if (random.chance(0.1)) {
      counts.resizes += 1;
      const containers = [{ name: 'main', resources: { requests: { memory: memory(random) } } }];
      await patchObject(client, { ...address, subresource: 'resize' }, { spec: { containers } }, { type: 'strategic' });
    }
    if (random.chance(0.1)) {
      const ended = { status: { phase: 'Succeeded' } };
      await patchObject(client, { ...address, subresource: 'status' }, ended, { type: 'merge' });
      await letTimePass(random.below(LIFE_MS), 'load');
    }
    if (random.chance(0.995)) await remove(namespace, name);
  }

  async function remove(namespace: string, name: string): Promise<void> {
    await client.request({ method: 'DELETE', path: resourcePath(PODS, { namespace, name }) });
  }

  async function work(): Promise<void> {
    while (counts.sent < creates) await createOne();
  }

  await Promise.all(Array.from({ length: concurrency }, work));
  await Promise.all(lives);
  const { dryRuns, resizes, longestMs } = counts;
  return { outcomes, dryRuns, resizes, longestMs: Math.round(longestMs) };
}

function pickKind(random: RandomSource): Kind {
  let drawn = random.next();
  for (const [kind, share] of KINDS) {
    drawn -= share;
    if (drawn < 0) return kind;
  }
  return 'plain';
}

interface PodManifest {
  readonly metadata: { readonly name?: string; readonly generateName?: string };
  readonly spec: object;
}

interface NewPod {
  readonly namespace: string;
  readonly pod: PodManifest;
}

function podFor(kind: Kind, newest: Name | undefined, random: RandomSource, number: number): NewPod {
  const namespaceOfKind = kind === 'elsewhere' ? ELSEWHERE : random.pick(TEAMS);
  const fresh = { namespace: namespaceOfKind, name: `${kind === 'dryRun' ? DRY_RUN_PREFIX : 'pod-'}${number}` };
  const { namespace, name } = (kind === 'nameTaken' ? newest : undefined) ?? fresh;
  const metadata = kind === 'generated' ? { generateName: random.pick(['job-', CLASHING_PREFIX]) } : { name };
  const spec = {
    priorityClassName: kind === 'doomed' ? DOOMED_CLASS : random.pick(['low', 'standard', 'high']),
    containers: [{ name: 'main', image: 'idle:1', resources: { requests: { memory: memory(random) } } }],
  };
  return { namespace, pod: { metadata, spec } };
}

function memory(random: RandomSource): string {
  return `${16 * (1 + random.below(8))}Mi`;
}
