import { type AgentState, FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { applyOutcome, type AttemptOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { snapshot, type NodePod, policy, type Scene } from '#test/agent/node-scene.ts';

export const quiet: NodePod = { name: 'quiet', priority: 1000, requests: { memory: '400Mi' }, usageMiB: 300 };
export const hog: NodePod = { name: 'hog', priority: 0, requests: { memory: '100Mi' }, usageMiB: 500 };
export const small: NodePod = { name: 'small', priority: 0, requests: { memory: '10Mi' }, usageMiB: 60 };

/** Runs passes one after another; outcomes are applied after the pass that requested them. */
export function run(
  scenes: readonly Scene[],
  rules: AgentPolicy = policy(),
  outcome: AttemptOutcome = { kind: 'evicted' },
) {
  let state: AgentState = FIRST_STATE;
  const steps = scenes.map((scene) => {
    const decision = decide(state, snapshot(scene), rules);
    state = decision.state;
    for (const { pod, mode } of decision.evictions)
      state = applyOutcome(state, { uid: pod.uid, mode }, outcome, scene.now);
    return {
      evicted: decision.evictions.map(({ pod }) => pod.name),
      closedGates: decision.assessment.closedGates.map(({ code }) => code),
    };
  });
  return { steps, state };
}

export function evicted(
  scenes: readonly Scene[],
  rules?: AgentPolicy,
  outcome?: AttemptOutcome,
): (readonly string[])[] {
  return run(scenes, rules, outcome).steps.map((step) => step.evicted);
}
