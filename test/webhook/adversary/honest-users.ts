import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';
import { peakMiBOf } from '#test/webhook/support/process-figures.ts';
import { permittedPod, type Stage } from './stage.ts';
import { letTimePass } from '#test/build/waiting.ts';

/** What honest users of another namespace got while an attack ran. */
export interface HonestResult {
  readonly asked: number;
  readonly created: number;
  readonly p99Ms: number;
  /** Answers by which a pod was not created, or not deleted, counted by status and message. */
  readonly refusals: Readonly<Record<string, number>>;
}

const USERS = 4;
/** A controller creates pods in bursts; a pause keeps the API server's own limits out of the picture. */
const PAUSE_MS = 20;
const CREATED = 201;
const DELETED = 200;
const NOT_FOUND = 404;
const MAX_DELETIONS = 50;
const ENOUGH_ASKED = 40;
const MAX_ATTACK_MS = 4_000;

/**
 * Runs an attack while honest users create and delete pods, or ask for something else, and returns what they got.
 * Rejects when the attack does. The attack is told how often they have asked so far.
 */
export async function withHonestUsers<T>(
  stage: Stage,
  attack: (asked: () => number) => Promise<T>,
  askOnce = () => createOne(stage),
): Promise<{ readonly honest: HonestResult; readonly attack: T }> {
  const over = new AbortController();
  const asked: Asked[] = [];
  const users = Promise.all(Array.from({ length: USERS }, () => askUntil(askOnce, asked, over.signal)));
  const attacked = await attack(() => asked.length).finally(() => over.abort());
  await users;
  const honest = resultOf(asked);
  writeFigures(stage, honest);
  return { honest, attack: attacked };
}

/**
 * Repeats what a tenant sends at once until honest users have asked often enough: of nine requests, one refusal would be
 * more than a twentieth.
 */
export async function inRounds<T>(asked: () => number, atOnce: () => Promise<readonly T[]>): Promise<readonly T[]> {
  const answers: T[] = [];
  const until = performance.now() + MAX_ATTACK_MS;
  do answers.push(...(await atOnce()));
  while (asked() < ENOUGH_ASKED && performance.now() < until);
  return answers;
}

/** For `npm run bench -- adversary`: how fast answers were is a measurement and no test. */
function writeFigures({ webhook }: Stage, honest: HonestResult): void {
  const file = process.env['PLIMSOLL_ADVERSARY_FIGURES'];
  if (file === undefined) return;
  const peakMiB = peakMiBOf(webhook().component.pid() ?? 0);
  appendFileSync(file, `${JSON.stringify({ attack: expect.getState().currentTestName, ...honest, peakMiB })}\n`);
}

/** What one request of an honest user came to. */
export interface Asked {
  /** Empty when it was granted. */
  readonly outcome: string;
  readonly elapsedMs: number;
}

async function askUntil(askOnce: () => Promise<Asked>, asked: Asked[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    asked.push(await askOnce());
    await letTimePass(PAUSE_MS, 'load');
  }
}

async function createOne(stage: Stage): Promise<Asked> {
  const { honest } = stage;
  const pod = permittedPod(stage) as { readonly metadata: { readonly name: string } };
  const startedAt = performance.now();
  const { status, body } = await honest.post(honest.core('pods'), pod);
  const elapsedMs = performance.now() - startedAt;
  const outcome = status === CREATED ? await deleteOne(stage, pod.metadata.name) : `POST ${status} ${messageOf(body)}`;
  return { outcome, elapsedMs };
}

/**
 * Retries until it is gone, because leftovers would affect the next attack; returns the message of the first refusal.
 */
async function deleteOne({ honest }: Stage, name: string): Promise<string> {
  let refusal = '';
  for (let tries = 0; tries < MAX_DELETIONS; tries += 1) {
    const { status, body } = await honest.remove(honest.core(`pods/${name}`));
    if (status === DELETED || status === NOT_FOUND) return refusal;
    refusal ||= `DELETE ${status} ${messageOf(body)}`;
    await letTimePass(PAUSE_MS, 'load');
  }
  throw new Error(`a pod is left over: ${refusal}`);
}

function messageOf(body: unknown): string {
  return (body as { readonly message?: string } | undefined)?.message ?? '';
}

function resultOf(asked: readonly Asked[]): HonestResult {
  const times = asked.map(({ elapsedMs }) => elapsedMs).toSorted((a, b) => a - b);
  const refused = asked.filter(({ outcome }) => outcome !== '');
  const refusals: Record<string, number> = {};
  for (const { outcome } of refused) refusals[outcome] = (refusals[outcome] ?? 0) + 1;
  return {
    asked: asked.length,
    created: asked.length - refused.length,
    p99Ms: Math.round(times[Math.ceil(times.length * 0.99) - 1] ?? 0),
    refusals,
  };
}
