import type { Clock } from '#shared/runtime/clock.ts';
import { planScenario } from './demo/plan-scenario.ts';
import { runScenario } from './demo/run-scenario.ts';
import { showEvents, type ShownEvent } from './demo/show-events.ts';
import { findShortcomings, resultLine } from './demo/verdict.ts';
import { introduction, type Narrator } from './narrator.ts';
import type { ReviewedPreemption } from './follow-scheduler.ts';
import { createNodePolicy } from './node-policy.ts';
import type { SandboxComponent, SandboxOptions } from './options.ts';
import { type MakeDashboard, serveDashboard } from './serve-dashboard.ts';
import type { ComponentProcess } from './start-component.ts';
import { type PlimsollPorts, startPlimsoll } from './start-plimsoll.ts';
import { NODE_CPU, NODE_MEMORY, type Sandbox, type SandboxPorts, startSandbox } from './start-sandbox.ts';

export interface RunPorts extends SandboxPorts {
  readonly clock: Clock;
  readonly narrator: Narrator;
  readonly makeDashboard: MakeDashboard;
}

/** The result of the demo: the last line, and whether everything happened as expected. */
export interface DemoResult {
  readonly line: string;
  readonly isGood: boolean;
}

/** A node that measures its pods less often than this gets a slower hog, so that the agent can act before memory is gone. */
const FULL_PACE_MS = 300;

/** Starts everything, introduces it and plays the demo; resolves when the demo is over, with its result. */
export async function runSandbox(options: SandboxOptions, ports: RunPorts): Promise<DemoResult | undefined> {
  const sandbox = await startSandbox({ ...ports, measureWith: options.measureWith });
  await createNodePolicy(sandbox.client);
  const dashboard = await serveDashboard(ports.makeDashboard, sandbox.clientFor('dashboard'), options.port, ports);
  const reviews: ReviewedPreemption[] = [];
  const parts = await startParts(options, sandbox, { ...ports, onReview: (review) => void reviews.push(review) });
  if (ports.shutdown.signal.aborted) return undefined;
  ports.narrator.print(
    introduction({
      apiServer: sandbox.url,
      node: `${sandbox.nodeName}, ${NODE_CPU} CPU and ${NODE_MEMORY} of memory (virtual)`,
      dashboard: dashboard.url,
      kubeconfigFile: sandbox.kubeconfigFile,
      ...parts,
    }),
  );
  const shown: ShownEvent[] = [];
  const showing = showEvents({ ...ports, client: sandbox.client }, (event) => shown.push(event), ports.shutdown.signal);
  ports.shutdown.onRelease('story', () => showing);
  return options.withDemo ? playDemo(options, sandbox, ports, { shown, reviews }) : undefined;
}

async function startParts(
  { without }: SandboxOptions,
  sandbox: Sandbox,
  ports: RunPorts & PlimsollPorts,
): Promise<Readonly<Record<SandboxComponent, string>>> {
  const started: ComponentProcess[] = [];
  // All at once, so that one that hangs does not delay the others.
  ports.shutdown.onRelease('Plimsoll', () => Promise.all(started.map((each) => each.stop())).then(() => undefined));
  const start = async (component: SandboxComponent): Promise<string> => {
    if (without.has(component)) return 'left out';
    const process = await startPlimsoll(component, sandbox, ports, (each) => started.push(each));
    void tellEnd(component, process, ports);
    return `process ${process.pid}`;
  };
  const [webhook, agent, scheduler] = await Promise.all([start('webhook'), start('agent'), start('scheduler')]);
  return { webhook, agent, scheduler };
}

/** Reports a part that ends while the sandbox is running. */
async function tellEnd(
  component: SandboxComponent,
  process: ComponentProcess,
  { narrator, shutdown }: RunPorts,
): Promise<void> {
  const how = await process.ended;
  if (shutdown.signal.aborted) return;
  narrator.say(`The ${component} ended with ${how}: ${process.lastWords() ?? 'it left no message'}`);
}

async function playDemo(
  { seed }: SandboxOptions,
  sandbox: Sandbox,
  { clock, narrator, shutdown }: RunPorts,
  seenSoFar: { readonly shown: readonly ShownEvent[]; readonly reviews: readonly ReviewedPreemption[] },
): Promise<DemoResult> {
  const scenario = planScenario(seed, Math.min(1, FULL_PACE_MS / sandbox.node.periodMs));
  const { client, nodeName } = sandbox;
  const availableBytes = (): number => sandbox.node.availableBytes();
  const seen = await runScenario(
    { client, clock, narrator, nodeName, availableBytes, ...seenSoFar, signal: shutdown.signal },
    scenario,
  );
  const shortcomings = findShortcomings(scenario, seen);
  for (const shortcoming of shortcomings) narrator.say(`Not as it should be: ${shortcoming}`);
  if (shortcomings.length === 0) narrator.say('The demo is over: everything happened as it should');
  return { line: resultLine(seen), isGood: shortcomings.length === 0 };
}
