/**
 * Has the code of the API server judge 100,000 mutated pods and templates (or as many as the argument says) by our
 * ValidatingAdmissionPolicies, under rules of each kind: what failed, which must be nothing, what it cost, and how long
 * it took. JSON on stdout.
 */
import { loadavg } from 'node:os';
import { judgeRequests, mutatedRequests } from '#test/cluster/policies/judge-requests.ts';
import { findPolicyEvaluator } from '#test/cluster/policies/policy-evaluator.ts';
import { ruleWorlds } from '#test/cluster/policies/rule-worlds.ts';

const SEED = 20_261_123;
/** Rules that fill one object to its limit take a hundred times as long. */
const SHARE = { few: 0.98, full: 0.005 } as const;

const total = Number(process.argv[2] ?? 100_000);
const program = findPolicyEvaluator(process.env);
if (program.kind === 'missing') throw new Error(`cannot measure: ${program.because}`);
const worlds = [];
for (const world of ruleWorlds(SEED)) {
  const count = Math.ceil(total * (world.isFull ? SHARE.full : SHARE.few));
  const start = performance.now();
  const { errors, ...judged } = await judgeRequests(program.paths.policies, world, mutatedRequests(world, count, SEED));
  const seconds = Math.round(performance.now() - start) / 1_000;
  worlds.push({ world: world.name, policies: world.policies, ...judged, errors: Object.fromEntries(errors), seconds });
}
console.log(JSON.stringify({ seed: SEED, target: 'no errors', worlds, load: loadavg() }, undefined, 2));
if (worlds.some(({ errors }) => Object.keys(errors).length > 0)) process.exitCode = 1;
