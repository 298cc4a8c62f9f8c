/** Prints the story: each line begins with the time since the start. */
export interface Narrator {
  say(text: string): void;
  /** A line without time, outside the story. */
  print(text: string): void;
}

const TIME_WIDTH = 6;

/** `monotonic` is in milliseconds; `write` gets whole lines. */
export function createNarrator(monotonic: () => number, write: (line: string) => void): Narrator {
  const startedAt = monotonic();
  return {
    say(text) {
      const seconds = ((monotonic() - startedAt) / 1000).toFixed(1);
      write(`${seconds.padStart(TIME_WIDTH)} s  ${text}\n`);
    },
    print: (text) => write(`${text}\n`),
  };
}

/** Bytes for people: whole MiB. */
export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)}Mi`;
}

/** What a newcomer needs to know once everything runs. */
export interface IntroductionFacts {
  readonly apiServer: string;
  readonly node: string;
  readonly dashboard: string;
  readonly kubeconfigFile: string;
  /** How each part of Plimsoll runs, such as `pid 4711`, or that it was left out. */
  readonly webhook: string;
  readonly agent: string;
  readonly scheduler: string;
}

/** What is running, where the dashboard and the kubeconfig are, and four things to try. */
export function introduction(facts: IntroductionFacts): string {
  return `
Plimsoll sandbox: a small Kubernetes on this machine, with Plimsoll in it

  API server   ${facts.apiServer}, in memory, loopback only
  node         ${facts.node}, pods are real processes
  webhook      ${facts.webhook}
  agent        ${facts.agent}
  scheduler    ${facts.scheduler}

  dashboard    ${facts.dashboard}
  kubeconfig   ${facts.kubeconfigFile}

Four things to try in another terminal, after export KUBECONFIG=${facts.kubeconfigFile}

  kubectl get nodepressures                          how full the node is, and which pod would be evicted next
  kubectl get pods -A -w                             the pods, as things happen to them
  kubectl get disruptions -A                         which pods were removed, by what and why
  kubectl run hog --image=demo/hog -- --grow=80Mi    a pod of your own that keeps growing

Ctrl-C ends everything.
`;
}
