import type { Verb } from './extender-listener.ts';
import { filterVerb, prioritizeVerb } from './node-verbs.ts';
import { preemptVerb, type PreemptOptions } from './preempt-verb.ts';
import { countUndecided, type ViewState } from './why-undecided.ts';

export interface ExtenderVerbsOptions extends Omit<PreemptOptions, 'whyUndecided'>, ViewState {}

/** What kube-scheduler may ask, by the path that its configuration names. */
export function extenderVerbs(options: ExtenderVerbsOptions): ReadonlyMap<string, Verb> {
  const shared = { ...options, whyUndecided: countUndecided(options, options.metrics) };
  return new Map([
    ['/preempt', preemptVerb(shared)],
    ['/filter', filterVerb(shared)],
    ['/prioritize', prioritizeVerb(shared)],
  ]);
}
