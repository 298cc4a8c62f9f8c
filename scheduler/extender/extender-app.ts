import type { Express } from 'express';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import {
  type NodeVerdict,
  type ProposalRules,
  type ProposedVictims,
  reviewProposal,
} from '#shared/domain/preemption/review-proposal.ts';
import { jsonApp } from '#shared/http/json-app.ts';
import { problemHandler } from '#shared/http/problem.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { decodePreemptionArgs, encodePreemptionResult, type PreemptionArgs } from './preemption-args.ts';

export interface ExtenderOptions {
  readonly snapshot: ClusterSnapshot;
  /** Kinds that have not been read yet; until there are none, every proposal is returned as it is. */
  readonly missing: () => readonly string[];
  readonly rules: ProposalRules;
  readonly bodyLimitBytes: number;
  readonly log: Log;
  readonly metrics: Metrics;
}

const BAD_REQUEST = 400;

/** Answers kube-scheduler: `POST /preempt` takes `ExtenderPreemptionArgs`. */
export function extenderApp(options: ExtenderOptions): Express {
  const { bodyLimitBytes, log, metrics } = options;
  const verdicts = metrics.counter(
    'plimsoll_extender_nodes_total',
    'Nodes that kube-scheduler proposed for a preemption, by what became of them',
    ['verdict'],
  );
  const app = jsonApp({ bodyLimitBytes });
  app.post('/preempt', (request, response) => {
    const args = decodePreemptionArgs(request.body);
    if (!args.ok) {
      response.status(BAD_REQUEST).json({ error: `cannot read ${args.field}: ${args.message}` });
      return;
    }
    const reviewed = options.missing().length > 0 ? unreviewed(args.value) : review(options, args.value);
    for (const { kind } of reviewed) verdicts.add({ verdict: kind });
    report(log, args.value, reviewed);
    response.json(encodePreemptionResult(reviewed.flatMap(victimsLeft)));
  });
  app.use(problemHandler(log));
  return app;
}

function review({ snapshot, rules }: ExtenderOptions, { pod, proposal }: PreemptionArgs): readonly NodeVerdict[] {
  return reviewProposal(snapshot, pod, proposal, rules);
}

function unreviewed({ proposal }: PreemptionArgs): readonly NodeVerdict[] {
  return proposal.map((victims) => ({ kind: 'kept', victims }));
}

function victimsLeft(verdict: NodeVerdict): readonly ProposedVictims[] {
  return verdict.kind === 'takenAway' ? [] : [verdict.victims];
}

function report(log: Log, { pod }: PreemptionArgs, reviewed: readonly NodeVerdict[]): void {
  for (const verdict of reviewed) {
    if (verdict.kind === 'kept') continue;
    const node = verdict.kind === 'changed' ? verdict.victims.node : verdict.node;
    const { code, text } = verdict.because;
    log.info({ pod: `${pod.namespace}/${pod.name}`, node, verdict: verdict.kind, code, text }, 'Preemption reviewed');
  }
}
