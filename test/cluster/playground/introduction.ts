import { kubernetesVersion } from '#test/cluster/support/control-plane/binaries.ts';

/** What a contributor needs to know of the cluster in the background. */
export interface IntroductionFacts {
  readonly apiServer: string;
  /** How the webhook runs, such as `pid 4711`. */
  readonly webhook: string;
  /** The node, or why there is none. */
  readonly node: string;
  /** Whether pods run. */
  readonly hasNode: boolean;
  /** What a pod can be made of. */
  readonly image: string;
  readonly kubeconfig: string;
  /** The folder of a kubectl of this version. */
  readonly programs: string;
  /** Where everything logs to. */
  readonly logs: string;
}

const ON_NODE = `  how full the node is, and which pods would be evicted next
    kubectl get nodepressures -o wide
`;

/** What is running and where, and what to try. */
export function introduction({ hasNode, ...facts }: IntroductionFacts): string {
  return `
Plimsoll on Kubernetes ${kubernetesVersion(process.env)}, in the background of this machine

  API server   ${facts.apiServer}, loopback only
  webhook      ${facts.webhook}
  node         ${facts.node}
  logs         ${facts.logs}
  kubeconfig   ${facts.kubeconfig}

Things to try

  export KUBECONFIG=${facts.kubeconfig} PATH=$PATH:${facts.programs}

  a pod gets the class and number of its team's policy
    kubectl run web -n team-a --image=${facts.image} -o jsonpath='{.spec.priorityClassName} {.spec.priority}{"\\n"}'
  a class above the team is refused
    kubectl run vip -n team-a --image=${facts.image} --overrides='{"spec":{"priorityClassName":"critical"}}'
  a third batch job is over the quota; then look at it
    for i in 1 2 3; do kubectl run job-$i -n team-a --image=${facts.image} --overrides='{"spec":{"priorityClassName":"batch"}}'; done
    kubectl get priorityquotas
${hasNode ? ON_NODE : ''}
npm run cluster:down ends it.
`;
}
