import type { Candidate } from '#shared/domain/preemption/victims/choose-node.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { Log } from '#shared/runtime/log.ts';
import { decodePreemptionResult, encodePreemptionArgs, type FindVictim } from './preemption-protocol.ts';
import { readBytes } from '#shared/runtime/read-bytes.ts';

export interface ExtenderOptions {
  /** `urlPrefix` of the extender; `undefined` while there is none. */
  readonly url: () => string | undefined;
  readonly timeoutMs: number;
  readonly log: Log;
}

/** A preemption that waits for the extender's answer. */
export interface Proposal {
  /** The preemptor as the API server stores it. */
  readonly pod: KubeObject;
  readonly candidates: readonly Candidate[];
  readonly find: FindVictim;
}

const LARGEST_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Asks the extender's verb `preempt` which candidates may be used: all of them, if there is no usable answer in time, as
 * with an extender that is `ignorable` in kube-scheduler's configuration. Never rejects.
 */
export async function askExtender(options: ExtenderOptions, proposal: Proposal): Promise<readonly Candidate[]> {
  const url = options.url();
  if (url === undefined || proposal.candidates.length === 0) return proposal.candidates;
  try {
    return await callExtender(`${url}/preempt`, options.timeoutMs, proposal);
  } catch (error) {
    options.log.warn({ url, reason: errorText(error) }, 'Extender ignored');
    return proposal.candidates;
  }
}

async function callExtender(url: string, timeoutMs: number, proposal: Proposal): Promise<readonly Candidate[]> {
  const { pod, candidates, find } = proposal;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(encodePreemptionArgs(pod, candidates)),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await readBytes((response.body ?? []) as AsyncIterable<Uint8Array>, LARGEST_ANSWER_BYTES);
  if (response.status !== 200) throw new Error(`the extender answered with status ${response.status}`);
  const result = decodePreemptionResult(JSON.parse(text.toString('utf8')), find);
  if (!result.ok) throw new Error(`cannot read ${result.field || 'the answer'}: ${result.message}`);
  return result.value;
}
