import { LEFT_TO_WEBHOOK } from '#shared/kube/admission/left-to-webhook.ts';
import { DEFAULT_POLICY, WEBHOOK_CONFIGURATION, WEBHOOK_ENTRIES } from '#shared/kube/api-names.ts';
import { fieldOf, itemsOf } from '#shared/kube/kube-object.ts';
import {
  MUTATING_POLICIES,
  MUTATING_POLICY_BINDINGS,
  MUTATING_WEBHOOKS,
  type Resource,
  VALIDATING_WEBHOOKS,
} from '#shared/kube/resource.ts';
import { nameOf, type Manifest } from '#cli/manifests/manifest.ts';
import type { Finding } from './finding.ts';
import {
  modeBoth,
  modeInProcess,
  modeWebhook,
  nobodyGivesDefaults,
  stillAskedAboutAll,
  stillLeftOut,
} from './messages.ts';

/** Which mode of admission is in force, and why (docs/decisions/0067-modes-of-admission.md). */
export function admissionModeFindings(manifests: readonly Manifest[]): readonly Finding[] {
  const configurations = [MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS].map((resource) =>
    find(manifests, resource, WEBHOOK_CONFIGURATION),
  );
  // A configuration that is missing is a finding of its own.
  if (configurations.includes(undefined)) return [];
  const entries = configurations.flatMap((each) => entryForPods(each) ?? []);
  const isGiving = [MUTATING_POLICIES, MUTATING_POLICY_BINDINGS].every(
    (resource) => find(manifests, resource, DEFAULT_POLICY) !== undefined,
  );
  return [modeOf(entries, isGiving)];
}

function modeOf(entries: readonly unknown[], isGiving: boolean): Finding {
  if (entries.length === 0) return isGiving ? modeInProcess() : nobodyGivesDefaults();
  const narrow = entries.filter(leavesPodsOut);
  if (!isGiving) return narrow.length === 0 ? modeWebhook() : stillLeftOut();
  return narrow.length === entries.length ? modeBoth() : stillAskedAboutAll();
}

function find(manifests: readonly Manifest[], { kind }: Resource, name: string): Manifest | undefined {
  return manifests.find((each) => each.kind === kind && nameOf(each) === name);
}

function entryForPods(configuration: Manifest | undefined): unknown {
  const entries = itemsOf(fieldOf(configuration?.raw, 'webhooks'));
  return entries.find((entry) => fieldOf(entry, 'name') === WEBHOOK_ENTRIES.priority);
}

function leavesPodsOut(entry: unknown): boolean {
  return itemsOf(fieldOf(entry, 'matchConditions')).some((each) => fieldOf(each, 'name') === LEFT_TO_WEBHOOK);
}
