import type { ShownCommand } from './shown-commands.ts';

/** `plimsoll`: test/docs/commands.process.test.ts; `kubectl`: test/cluster/docs/commands.test.ts; `nothing here`: for the reason named. */
export type Runner = 'plimsoll' | 'kubectl' | 'nothing here';

interface Rule {
  readonly matches: RegExp;
  readonly runner: Runner;
  /** Why the command is not run as it stands there, or which test runs it. */
  readonly because?: string;
}

function notRun(matches: RegExp, because: string): Rule {
  return { matches, runner: 'nothing here', because };
}

/** The first that matches counts. */
const RULES: readonly Rule[] = [
  notRun(/^plimsoll dashboard$/, 'runs until interrupted; test/cli/dashboard runs it'),
  { matches: /^(npm run --silent plimsoll -- |plimsoll |echo \$\?)/, runner: 'plimsoll' },
  notRun(/^npm (ci|test|run (check|test:processes|test:long|test:cluster))$/, '.ci/run runs it'),
  notRun(/^npm start$/, 'test/sandbox/main.long.test.ts runs it'),
  notRun(/^npm run cluster:(up|down)$/, 'test/cluster/playground/playground.nightly.test.ts runs it'),
  notRun(/^npm run bench -- NAME$/, 'NAME stands for a benchmark; each takes minutes'),
  notRun(/^npm run --silent evaluate -- /, 'test/conformance/evaluate.process.test.ts runs it'),
  notRun(/^npm run manifests$/, 'test/tools/manifests/manifests.test.ts does the same in a folder'),
  notRun(/^npm run bundle$/, 'test/tools/bundle.long.test.ts makes and runs it'),
  notRun(
    /^(install|ln -s) .*plimsoll/,
    'changes the machine; test/cluster/cli/installation.test.ts does the same in a folder',
  ),
  notRun(/^(npm run release |npm version )/, 'test/tools/release makes, signs and verifies releases'),
  notRun(/^skopeo copy /, 'needs a registry'),
  notRun(/^oc adm /, 'needs OpenShift'),
  notRun(/^openssl genpkey /, 'makes a key; test/tools/release/make-release.long.test.ts signs with one'),
  notRun(/^PLIMSOLL_\w+=.* npm run test:cluster /, 'a test run inside of a test run'),
  notRun(/^docker build /, 'needs Docker; test/cluster/node/dockerfile.test.ts does what the Dockerfile says'),
  notRun(/^helm /, 'test/cluster/installed/helm-lifecycle.test.ts runs helm'),
  notRun(/ (\||&&?) |^for .*; do$|^done$|\$part$/, 'a line for a shell'),
  notRun(/^kubectl .*(logs|top|debug|rollout history) /, 'needs nodes that run pods'),
  notRun(/^kubectl .*get lease /, 'needs a process that holds it'),
  notRun(/^kubectl .*rollout status /, 'needs nodes that run pods; test/cluster/installed/installed.test.ts has them'),
  notRun(/^kubectl .*port-forward /, 'needs nodes that run pods'),
  notRun(/-k deploy\/overlays\/cert-manager$/, 'needs cert-manager; test/cluster/installed/chart.test.ts applies it'),
  { matches: /^kubectl /, runner: 'kubectl' },
];

/** What runs a command; `undefined` where no rule knows it. */
export function whoRuns({ command }: ShownCommand): Runner | undefined {
  return RULES.find(({ matches }) => matches.test(command))?.runner;
}
