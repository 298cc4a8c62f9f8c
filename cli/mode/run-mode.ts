import { createInterface } from 'node:readline';
import type { Mode } from '#shared/api/node-pressure-policy/mode.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { DryRunStrategy } from '#cli/dry-run.ts';
import { InputError } from '#cli/input-error.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { printable, printLine } from '#cli/output/table.ts';
import {
  cannotPatch,
  noNodeSelected,
  NOT_CONFIRMED,
  nothingToChange,
  patched,
  QUESTION,
  staysDryRun,
  target,
  withoutPolicy,
} from './messages.ts';
import { modeRows, printRows } from './mode-rows.ts';
import { patchPolicy } from './patch-policy.ts';
import { planMode, type ModePlan, type PolicyChange } from './plan-mode.ts';
import { readPool } from './read-pool.ts';

export interface ModeOptions {
  readonly nodeSelector: string;
  readonly dryRun: DryRunStrategy;
  readonly yes: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
}

const EXIT_REFUSED = 1;

/** Carries out `plimsoll mode`: exit code 1 if a policy is not changed, because it must not be or the API server refuses. */
export async function runMode(mode: Mode, options: ModeOptions, io: ProcessIo): Promise<void> {
  const { withCluster } = await import('#cli/cluster/open-cluster.ts');
  await withCluster(options, async ({ client, server, origin }) => {
    io.tell(printable(target(server, origin)));
    const pool = await readPool(client, options.nodeSelector);
    if (pool.selected.size === 0) throw new InputError(noNodeSelected(options.nodeSelector));
    const plan = planMode({ ...pool, mode });
    if (isRefused(plan, io)) {
      io.exit(EXIT_REFUSED);
      return;
    }
    const rows = printRows(modeRows(plan.changes, pool.pressures, io.now()));
    if (options.dryRun !== 'none') io.print(rows);
    else if (needsConsent(plan, mode, options) && !(await isConfirmed(rows, io))) {
      io.tell(NOT_CONFIRMED);
      io.exit(EXIT_REFUSED);
      return;
    }
    for (const change of plan.changes) await carryOut(change, client, options.dryRun, io);
    warn(plan, io);
  });
}

/** Going back to reports alone harms no pod, and may be urgent. */
function needsConsent({ changes }: ModePlan, mode: Mode, { yes }: ModeOptions): boolean {
  return !yes && mode === 'Enforce' && changes.some(({ spec }) => spec !== undefined);
}

/** Shows what would change, and asks; standard output stays for what is done. */
async function isConfirmed(rows: string, io: ProcessIo): Promise<boolean> {
  io.tell(rows.trimEnd());
  io.tell(QUESTION);
  return /^y(es)?$/i.test(await firstLine(io.standardInput));
}

async function firstLine(input: ProcessIo['standardInput']): Promise<string> {
  const lines = createInterface({ input });
  const { value } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  return (value ?? '').trim();
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
