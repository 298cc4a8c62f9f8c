import type { Mode } from '#shared/api/node-pressure-policy/mode.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { DryRunStrategy } from '#cli/dry-run.ts';
import { InputError } from '#cli/input-error.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { printLine } from '#cli/output/table.ts';
import { cannotPatch, noNodeSelected, nothingToChange, patched, staysDryRun, withoutPolicy } from './messages.ts';
import { modeRows, printRows } from './mode-rows.ts';
import { patchPolicy } from './patch-policy.ts';
import { planMode, type ModePlan, type PolicyChange } from './plan-mode.ts';
import { readPool } from './read-pool.ts';

export interface ModeOptions {
  readonly nodeSelector: string;
  readonly dryRun: DryRunStrategy;
  readonly kubeconfig?: string;
  readonly context?: string;
}

const EXIT_REFUSED = 1;

/** Carries out `plimsoll mode`: exit code 1 if a policy is not changed, because it must not be or the API server refuses. */
export async function runMode(mode: Mode, options: ModeOptions, io: ProcessIo): Promise<void> {
  const { withCluster } = await import('#cli/cluster/open-cluster.ts');
  await withCluster(options, async ({ client }) => {
    const pool = await readPool(client, options.nodeSelector);
    if (pool.selected.size === 0) throw new InputError(noNodeSelected(options.nodeSelector));
    const plan = planMode({ ...pool, mode });
    if (isRefused(plan, io)) {
      io.exit(EXIT_REFUSED);
      return;
    }
    if (options.dryRun !== 'none') io.print(printRows(modeRows(plan.changes, pool.pressures, io.now())));
    for (const change of plan.changes) await carryOut(change, client, options.dryRun, io);
    warn(plan, io);
  });
}

/** Says what stands in the way; with an obstacle no policy is changed, so that a pool is changed as a whole. */
function isRefused({ changes, withoutPolicy: bare, obstacles }: ModePlan, io: ProcessIo): boolean {
  const found = changes.length === 0 && obstacles.length === 0 ? [nothingToChange(bare)] : obstacles;
  for (const { text, next } of found) io.tell(printLine(`error: ${text}; ${next}`).trimEnd());
  return found.length > 0;
}

function warn({ changes, withoutPolicy: bare }: ModePlan, io: ProcessIo): void {
  if (bare.length > 0) io.tell(withoutPolicy(bare));
  for (const { policy, stillDryRun } of changes) if (stillDryRun.length > 0) io.tell(staysDryRun(policy, stillDryRun));
}

async function carryOut(
  change: PolicyChange,
  client: KubeClient,
  strategy: DryRunStrategy,
  io: ProcessIo,
): Promise<void> {
  const { policy, spec } = change;
  const refusal =
    spec === undefined || strategy === 'client' ? undefined : await patchPolicy(change, client, strategy === 'server');
  if (refusal === undefined) {
    io.print(printLine(patched(policy, { isChanged: spec !== undefined, strategy })));
    return;
  }
  io.tell(printLine(cannotPatch(policy, refusal)).trimEnd());
  io.exit(EXIT_REFUSED);
}
