import type { Clock } from '#shared/runtime/clock.ts';
import { planScenario } from './demo/plan-scenario.ts';
import { runScenario } from './demo/run-scenario.ts';
import { tellEvents, type ToldEvent } from './demo/tell-events.ts';
import { findShortcomings, resultLine } from './demo/verdict.ts';
import { introduction } from './introduction.ts';
import type { Narrator } from './narrator.ts';
import { createNodePolicy } from './node-policy.ts';
import type { Component, SandboxOptions } from './options.ts';
import { type MakeDashboard, serveDashboard } from './serve-dashboard.ts';
import type { ComponentProcess } from './start-component.ts';
import { startPlimsoll } from './start-plimsoll.ts';
import { NODE_CPU, NODE_MEMORY, type Sandbox, type SandboxPorts, startSandbox } from './start-sandbox.ts';

export interface RunPorts extends SandboxPorts {
  readonly clock: Clock;
  readonly narrator: Narrator;
  readonly makeDashboard: MakeDashboard;
}

/** How the demo went: the line to end with and whether all that had to happen happened. */
export interface DemoResult {
  readonly line: string;
  readonly isGood: boolean;
}

/** Starts everything, introduces it and plays the demo; resolves when the demo is over, with its result. */
export async function runSandbox(options: SandboxOptions, ports: RunPorts): Promise<DemoResult | undefined> {
  const sandbox = await startSandbox(ports);
  await createNodePolicy(sandbox.client);
  const dashboard = await serveDashboard(ports.makeDashboard, sandbox.clientFor('dashboard'), options.port, ports);
  const parts = await startParts(options, sandbox, ports);
  if (ports.shutdown.signal.aborted) return undefined;
  ports.narrator.print(
    introduction({
      apiServer: sandbox.url,
      node: `${sandbox.nodeName}, ${NODE_CPU} CPU and ${NODE_MEMORY} of memory (virtual)`,
      dashboard: dashboard.url,
      kubeconfigFile: sandbox.kubeconfigFile,
      webhook: parts.webhook,
      agent: parts.agent,
    }),
  );
  const told: ToldEvent[] = [];
  const telling = tellEvents({ ...ports, client: sandbox.client }, (event) => told.push(event), ports.shutdown.signal);
  ports.shutdown.onRelease('story', () => telling);
  return options.withDemo ? playDemo(options, sandbox, ports, told) : undefined;
}

async function startParts(
  { without }: SandboxOptions,
  sandbox: Sandbox,
  ports: RunPorts,
): Promise<Readonly<Record<Component, string>>> {
  const started: ComponentProcess[] = [];
  // All at once, so that one that hangs does not keep the others waiting.
  ports.shutdown.onRelease('Plimsoll', () => Promise.all(started.map((each) => each.stop())).then(() => undefined));
  const start = async (component: Component): Promise<string> => {
    if (without.has(component)) return 'left out';
    const process = await startPlimsoll(component, sandbox, ports, (each) => started.push(each));
    void tellEnd(component, process, ports);
    return `process ${process.pid}`;
  };
  const [webhook, agent] = await Promise.all([start('webhook'), start('agent')]);
  return { webhook, agent };
}

/** A part that ends while the sandbox goes on is worth a line. */
async function tellEnd(
  component: Component,
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
  told: readonly ToldEvent[],
): Promise<DemoResult> {
  const scenario = planScenario(seed);
  const { client, nodeName } = sandbox;
  const availableBytes = (): number => sandbox.node.availableBytes();
  const seen = await runScenario(
    { client, clock, narrator, nodeName, availableBytes, told, signal: shutdown.signal },
    scenario,
  );
  const shortcomings = findShortcomings(scenario, seen);
  for (const shortcoming of shortcomings) narrator.say(`Not as it should be: ${shortcoming}`);
  if (shortcomings.length === 0) narrator.say('The demo is over: everything happened as it should');
  return { line: resultLine(seen), isGood: shortcomings.length === 0 };
}
