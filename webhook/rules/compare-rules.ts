import { compileRules, type CompiledRules } from '#shared/domain/priority-rules/compile-rules.ts';
import type { PriorityClasses } from '#shared/domain/priority/priority-class.ts';
import type { RuleSet } from '#shared/domain/priority-rules/priority-rules.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { encodePriorityRules, storedBytes } from '#shared/api/encode-priority-rules.ts';
import { PRIORITY_RULES_NAMES } from '#shared/kube/api-names.ts';
import type { WebhookConfiguration } from '#webhook/configuration.ts';
import type { Rules } from '#webhook/cluster-state/read-rules.ts';
import { isCurrent, readRulesObject, type RulesObject } from './stored-rules.ts';

/** The rules compiled from policies and classes, and the stored objects to compare with. */
export interface Comparison {
  readonly compiled: CompiledRules;
  /** All classes, as they were compiled. */
  readonly classes: PriorityClasses;
  /** Objects to write first, objects to delete last, so that no rule is missing in between. */
  readonly objects: readonly RulesObject[];
  readonly isCurrent: boolean;
}

/** Compiles the rules and reads the objects. Rejects when they cannot be read. */
export async function compareRules(
  client: KubeClient,
  { policies, classes, priorityQuotas: quotas }: Rules,
  mode: WebhookConfiguration['mode'],
  signal: AbortSignal,
): Promise<Comparison> {
  const compiled = compileRules({ policies, quotas, classes, mode, bytesOf: storedBytes });
  const wanted = [
    { name: PRIORITY_RULES_NAMES.refusing, set: compiled.refusing },
    { name: PRIORITY_RULES_NAMES.warning, set: compiled.warning },
    { name: PRIORITY_RULES_NAMES.giving, set: compiled.giving },
  ].toSorted((a, b) => absence(a.set) - absence(b.set));
  const objects = await Promise.all(
    wanted.map(async ({ name, set }) => ({
      name,
      stored: await readRulesObject(client, name, { signal }),
      wanted: set === undefined ? undefined : encodePriorityRules(set),
      policies: set?.rules.length ?? 0,
    })),
  );
  return { compiled, classes, objects, isCurrent: objects.every(isCurrent) };
}

function absence(set: RuleSet | undefined): number {
  return set === undefined ? 1 : 0;
}
