import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { defaultPolicy, groupDefaultPolicy } from '#shared/kube/admission/default-policy.ts';
import { ADMISSION_POLICIES } from '#shared/kube/resource.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { mutatedRequest } from './mutated-requests.ts';
import { type AskedOfPolicies, evaluatePolicies, type PolicyOutcome } from './policy-evaluator.ts';
import type { RuleWorld } from './rule-worlds.ts';

/** What our policies made of many requests. */
export interface Judged {
  requests: number;
  /** Which the API server would not have taken to admission. */
  undecodable: number;
  /** Requests that a policy is for, each policy apart. */
  evaluated: number;
  denied: number;
  mutated: number;
  /** The most that one policy's validations or messages cost, in units of CEL. */
  highestCost: number;
  /** The first of each kind. An expression that fails lets the object in. */
  readonly errors: Map<string, AskedOfPolicies>;
}

const POLICIES = rulePolicies().filter(({ kind }) => kind === ADMISSION_POLICIES.kind);
const MUTATING = [defaultPolicy(), groupDefaultPolicy()].flatMap((objects) => objects.slice(0, 1));
const SHOWN_CHARACTERS = 200;

/** Has the code of the API server judge the requests by our policies under these rules. */
export function judgeRequests(
  program: string,
  { params }: RuleWorld,
  requests: Iterable<AskedOfPolicies>,
): Promise<Judged> {
  return judgeBy(program, { policies: POLICIES, params }, requests);
}

/** Has the same code give pods and groups of pods their defaults. */
export function mutateRequests(
  program: string,
  { giving }: RuleWorld,
  requests: Iterable<AskedOfPolicies>,
): Promise<Judged> {
  return judgeBy(program, { policies: [], mutating: MUTATING, params: giving }, requests);
}

async function judgeBy(
  program: string,
  setup: Parameters<typeof evaluatePolicies>[1],
  requests: Iterable<AskedOfPolicies>,
): Promise<Judged> {
  const judged: Judged = {
    requests: 0,
    undecodable: 0,
    evaluated: 0,
    denied: 0,
    mutated: 0,
    highestCost: 0,
    errors: new Map(),
  };
  const waiting: AskedOfPolicies[] = [];
  const kept = keeping(requests, waiting);
  for await (const { undecodable, outcomes = [] } of evaluatePolicies(program, setup, kept)) {
    const request = waiting.shift();
    judged.requests += 1;
    if (undecodable !== undefined) judged.undecodable += 1;
    for (const outcome of outcomes) note(judged, outcome, request);
  }
  return judged;
}

/** Random requests that name what the rules name. */
export function* mutatedRequests({ names }: RuleWorld, count: number, seed: number): Generator<AskedOfPolicies> {
  const random = randomSource(seed);
  for (let n = 0; n < count; n += 1) yield mutatedRequest(random, names);
}

function* keeping<T>(items: Iterable<T>, kept: T[]): Generator<T> {
  for (const item of items) {
    kept.push(item);
    yield item;
  }
}

function note(judged: Judged, outcome: PolicyOutcome, request: AskedOfPolicies | undefined): void {
  const { denied = [], errors = [], cost, messageCost } = outcome;
  judged.evaluated += 1;
  judged.mutated += outcome.mutated === true ? 1 : 0;
  judged.denied += denied.length > 0 ? 1 : 0;
  judged.highestCost = Math.max(judged.highestCost, cost, messageCost);
  for (const error of errors) {
    const shown = error.slice(0, SHOWN_CHARACTERS);
    if (request !== undefined && !judged.errors.has(shown)) judged.errors.set(shown, request);
  }
}
