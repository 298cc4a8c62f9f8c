import { Command } from 'commander';
import type { Mode } from '#shared/api/node-pressure-policy/policy.ts';
import { addKubeconfigOptions, type ClusterOptions } from './cluster/cluster-options.ts';
import { type OutputFormat, outputOption } from './output/output-option.ts';
import { dryRunOption, type ProcessIo } from './process-io.ts';
import type { ModeOptions } from './mode/run-mode.ts';
import type { SetOptions } from './mode/set-switches.ts';

type ShowOptions = ClusterOptions & { readonly output: OutputFormat };

const HELP = `
Sets spec.mode of the NodePressurePolicies in force on the selected nodes. A
policy that is also in force on other nodes is not changed, and then no other
policy is either. A dry run shows what each agent reports: where a threshold is
met, enforcing evicts pods at once.

Context and cluster are printed first. Before it enforces, the command shows the
nodes and asks; --yes skips the question.

Exit codes: 0, done; 1, at least one policy was not changed; 2, the command or
its input cannot be used.
`;

/** `plimsoll mode`: whether agents evict pods or only report. */
export function modeCommand(io: ProcessIo): Command {
  return new Command('mode')
    .summary('let the agents of a node pool evict pods, or only report')
    .description('Let the agents of a node pool evict pods, or only report what they would evict.')
    .addCommand(show(io))
    .addCommand(setOne(io))
    .addCommand(one('dry-run', 'DryRun', 'let the agents only report what they would evict', io))
    .addCommand(one('enforce', 'Enforce', 'let the agents evict pods', io));
}

function show(io: ProcessIo): Command {
  const summary = 'show every field by which a part acts, or only reports';
  const command = new Command('show')
    .summary(summary)
    .description('Show every field by which a part acts, or only reports.');
  return addKubeconfigOptions(command.addOption(outputOption())).action(async (options: ShowOptions) => {
    const { runShowSwitches } = await import('./mode/show-switches.ts');
    await runShowSwitches(options, io);
  });
}

const SET_HELP = `
Sets switches of one object, as plimsoll mode show names them. The Queue root is
created if it does not exist. The command shows the change and asks before a
part acts; --yes skips the question.

Exit codes: 0, done; 1, nothing was changed; 2, the command or its input cannot
be used.
`;

function setOne(io: ProcessIo): Command {
  const command = new Command('set')
    .summary('set fields by which a part acts, or only reports')
    .description('Set fields by which a part acts, or only reports.')
    .argument('<object>', 'KIND/NAME, such as queue/root')
    .argument('<settings...>', 'FIELD=VALUE, such as reclaim.mode=Enforce')
    .option('-y, --yes', 'do not ask before a part may act', false)
    .addOption(dryRunOption());
  return addKubeconfigOptions(command)
    .addHelpText('after', SET_HELP)
    .action(async (object: string, settings: readonly string[], options: SetOptions) => {
      const { runSetSwitches } = await import('./mode/set-switches.ts');
      await runSetSwitches(object, settings, options, io);
    });
}

function one(name: string, mode: Mode, summary: string, io: ProcessIo): Command {
  const description = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  const command = new Command(name)
    .summary(summary)
    .description(description)
    .requiredOption('-l, --node-selector <labels>', "nodes by label, such as pool=batch; '' selects all")
    .option('-y, --yes', 'do not ask before pods may be evicted', false)
    .addOption(dryRunOption());
  return addKubeconfigOptions(command)
    .addHelpText('after', HELP)
    .action(async (options: ModeOptions) => {
      const { runMode } = await import('./mode/run-mode.ts');
      await runMode(mode, options, io);
    });
}
