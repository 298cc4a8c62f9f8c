import { type AgentState, FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { applyOutcome, type AttemptOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import type { Eviction } from '#shared/decide/eviction/eviction.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { snapshot, policy, type Scene } from '#test/agent/node-scene.ts';

/** The result of one pass. */
export interface Step {
  /** `NAME`, or `NAME (dry run)`. */
  readonly evicted: readonly string[];
  /** Codes of the closed gates. */
  readonly closedGates: readonly string[];
  readonly evictions: readonly Eviction[];
}

/** One pass of an episode, with the policy in force from then on and the answer to its requests. */
export interface Moment extends Scene {
  readonly policy?: AgentPolicy;
  readonly outcome?: AttemptOutcome;
}

/** Runs passes one after another; the outcomes of each are applied before the next. */
export function runEpisode(moments: readonly Moment[], usual: AgentPolicy = policy(), from: AgentState = FIRST_STATE) {
  let state = from;
  let rules = usual;
  const steps = moments.map(({ policy: changed, outcome, ...scene }): Step => {
    rules = changed ?? rules;
    const decision = decide(state, snapshot(scene), rules);
    state = decision.state;
    for (const { pod, mode } of decision.evictions) {
      const answer = mode === 'DryRun' ? { kind: 'pretended' as const } : (outcome ?? { kind: 'evicted' as const });
      state = applyOutcome(state, { uid: pod.uid, mode }, answer, scene.now);
    }
    return {
      evicted: decision.evictions.map(({ pod, mode }) => (mode === 'DryRun' ? `${pod.name} (dry run)` : pod.name)),
      closedGates: decision.assessment.closedGates.map(({ code }) => code),
      evictions: decision.evictions,
    };
  });
  return { steps, state };
}

/** The evicted pods of each pass. */
export function whoWent(...given: Parameters<typeof runEpisode>): readonly (readonly string[])[] {
  return runEpisode(...given).steps.map(({ evicted }) => evicted);
}
