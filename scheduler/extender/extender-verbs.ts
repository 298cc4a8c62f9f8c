import type { Verb } from './extender-listener.ts';
import { filterVerb, prioritizeVerb } from './node-verbs.ts';
import { preemptVerb, type PreemptOptions } from './preempt-verb.ts';
import { reportLoops, type ReportOptions } from '#scheduler/preemptions/report-loops.ts';
import { createWaits } from './waits.ts';
import { countUndecided, type ViewState } from './why-undecided.ts';

type Given = Omit<PreemptOptions, 'whyUndecided' | 'reportLoops' | 'waitedFor'>;

export interface ExtenderVerbsOptions extends Given, ViewState, Pick<ReportOptions, 'loops' | 'events'> {}

/** What kube-scheduler may ask, by the path that its configuration names. */
export function extenderVerbs(options: ExtenderVerbsOptions): ReadonlyMap<string, Verb> {
  const whyUndecided = countUndecided(options, options.metrics);
  const shared = { ...options, waitedFor: createWaits(), whyUndecided, reportLoops: reportLoops(options) };
  return new Map([
    ['/preempt', preemptVerb(shared)],
    ['/filter', filterVerb(shared)],
    ['/prioritize', prioritizeVerb(shared)],
  ]);
}
