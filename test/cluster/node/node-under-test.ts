/** A real node with its control plane, however it is made. */
export interface RunningNode {
  readonly kubeconfig: string;
  /** Flags that the DaemonSet needs here in addition to its own. */
  readonly agentFlags: readonly string[];
  /** Merges a fragment of a KubeletConfiguration into the kubelet's, instead of the last one, and restarts it. */
  configureKubelet(fragment: object): Promise<void>;
  /** Ends all of it. */
  close(): Promise<void>;
}

/** A way to get a node with `NODE_NAME`, WORKLOAD_IMAGE and the image of deploy/base. */
export interface NodeUnderTest {
  /** Ends the sentence "the agent on a real node, …". */
  readonly title: string;
  /** How many times longer everything takes than on bare metal. */
  readonly patience: number;
  /** Whether its kernel tells how long pods wait (PSI of cgroup v2). */
  readonly measuresStalls: boolean;
  start(): Promise<RunningNode>;
}
