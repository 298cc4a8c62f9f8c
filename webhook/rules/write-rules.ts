import type { KubeClient } from '#shared/kube/client/client.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { Comparison } from './compare-rules.ts';
import { rulesCondition } from './rule-conditions.ts';
import { isCurrent, writeRulesObject, writeRulesStatus } from './stored-rules.ts';
import { ERRORS } from '#webhook/messages.ts';

export interface WritingTerm {
  readonly signal: AbortSignal;
  readonly term: LeaseTerm;
  readonly now: number;
  /** Called for every object that was changed. */
  readonly written: () => void;
}

/** Writes the objects that differ, and their status. Rejects when it cannot, or no longer leads. */
export async function writeRules(
  client: KubeClient,
  { compiled, objects }: Comparison,
  { signal, term, now, written }: WritingTerm,
): Promise<void> {
  for (const object of objects) {
    let { stored } = object;
    if (!isCurrent(object)) {
      if (!term.isHeld()) throw new Error(ERRORS.ledPerhapsByAnother());
      stored = await writeRulesObject(client, object, { signal });
      written();
    }
    if (stored === undefined || !term.isHeld()) continue;
    const { policies } = object;
    const condition = rulesCondition(compiled.leftOut, policies);
    await writeRulesStatus(client, stored, { policies, condition, now }, { signal });
  }
}
