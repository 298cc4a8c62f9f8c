import type { MoveRules } from '#shared/domain/rescheduling/running-pod.ts';
import type { Aggressiveness, ReschedulingPolicy } from '#shared/domain/rescheduling/policy.ts';
import { FOREIGN_PREFER_NO_EVICTION } from '#shared/kube/api-names.ts';

type Percents = Readonly<Record<string, number>>;

/** The settings of the recorded cases, in words of no particular program. */
export interface RecordedSettings {
  readonly policies: readonly {
    readonly policy: string;
    readonly by?: string;
    readonly low?: Percents;
    readonly target?: Percents;
    readonly kinds?: readonly string[];
    readonly threshold?: number;
  }[];
  readonly protect: { readonly fitElsewhere: boolean; readonly optOut: boolean; readonly priorityAtLeast?: number };
}

/** The policy that asks for the same as far as there is such a policy: nobody compacts, and nothing looks for duplicates. */
export function policyOf(settings: RecordedSettings, aggressiveness: Aggressiveness): ReschedulingPolicy {
  const named = (name: string) => settings.policies.find(({ policy }) => policy === name);
  return {
    name: 'recorded',
    nodeSelector: undefined,
    mode: 'Enforce',
    schedule: { periodSeconds: 300, windows: [] },
    underused: underusedOf(named('underUsed')),
    affinity: affinityOf(named('nodeAffinity'), named('antiAffinity')),
    badService: badServiceOf(named('restarts')),
    aggressiveness,
    fitElsewhere: settings.protect.fitElsewhere,
  };
}

type Setting = RecordedSettings['policies'][number] | undefined;

function underusedOf(setting: Setting): ReschedulingPolicy['underused'] {
  if (setting === undefined) return undefined;
  const { by, low = {}, target = {} } = setting;
  return {
    by: by === 'usage' ? 'Usage' : 'Requests',
    low: new Map(Object.entries(low)),
    target: new Map(Object.entries(target)),
    gain: undefined,
  };
}

function affinityOf(node: Setting, apart: Setting): ReschedulingPolicy['affinity'] {
  if (node === undefined && apart === undefined) return undefined;
  const kinds = node?.kinds ?? [];
  const required = apart !== undefined || kinds.includes('required');
  return { required, preferred: kinds.includes('preferred'), spread: false };
}

function badServiceOf(setting: Setting): ReschedulingPolicy['badService'] {
  if (setting === undefined) return undefined;
  return { restarts: setting.threshold ?? Infinity, move: 'Victim' };
}

/** The descheduler's opt-out, where the settings honour it. */
export function rulesOf({ protect }: RecordedSettings): MoveRules {
  return {
    protectedNamespaces: new Set(['kube-system']),
    optOutCeiling: Infinity,
    wantsToStay: ({ annotations }) => protect.optOut && annotations.has(FOREIGN_PREFER_NO_EVICTION),
    fitElsewhere: protect.fitElsewhere,
  };
}
