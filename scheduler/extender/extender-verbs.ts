import { type Verb, decideOrCount, type ViewState } from './extender-listener.ts';
import { filterVerb, prioritizeVerb } from './node-verbs.ts';
import { preemptVerb, type PreemptOptions } from './preempt-verb.ts';
import { reportLoops, type ReportOptions } from '#scheduler/preemptions/preemption-loops.ts';
import { createSinceWhen } from './nominations.ts';

type Given = Omit<PreemptOptions, 'decideOr' | 'reportLoops' | 'waitedFor'>;

interface ExtenderVerbsOptions extends Given, ViewState, Pick<ReportOptions, 'loops' | 'events'> {}

/** The extender's verbs, by the path that kube-scheduler's configuration names. */
export function extenderVerbs(options: ExtenderVerbsOptions): ReadonlyMap<string, Verb> {
  const decideOr = decideOrCount(options, options.metrics);
  const shared = { ...options, waitedFor: createSinceWhen(), decideOr, reportLoops: reportLoops(options) };
  return new Map([
    ['/preempt', preemptVerb(shared)],
    ['/filter', filterVerb(shared)],
    ['/prioritize', prioritizeVerb(shared)],
  ]);
}
