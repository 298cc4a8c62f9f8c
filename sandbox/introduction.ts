/** What a newcomer needs to know once everything runs. */
export interface IntroductionFacts {
  readonly apiServer: string;
  readonly node: string;
  readonly dashboard: string;
  readonly kubeconfigFile: string;
  /** How each part of Plimsoll runs, such as `pid 4711`, or that it was left out. */
  readonly webhook: string;
  readonly agent: string;
}

/** What is running, where the dashboard and the kubeconfig are, and three things to try. */
export function introduction(facts: IntroductionFacts): string {
  const kubectl = `kubectl --kubeconfig ${facts.kubeconfigFile}`;
  return `
Plimsoll sandbox: a small Kubernetes on this machine, with Plimsoll in it

  API server   ${facts.apiServer}, in memory, loopback only
  node         ${facts.node}, pods are real processes
  webhook      ${facts.webhook}
  agent        ${facts.agent}

  dashboard    ${facts.dashboard}
  kubeconfig   ${facts.kubeconfigFile}

Three things to try in another terminal

  1. who would go first, and why
     ${kubectl} get nodepressures
  2. the pods, as things happen to them
     ${kubectl} get pods -A -w
  3. a hog of your own
     ${kubectl} run hog --image=demo/hog -- --grow=80Mi

Ctrl-C ends everything.
`;
}
