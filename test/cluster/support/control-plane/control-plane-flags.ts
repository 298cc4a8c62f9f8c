import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { hostPort } from '#shared/runtime/host-port.ts';
import { LOOPBACK } from '#test/build/loopback.ts';
import type { Credentials } from './credentials.ts';

/** Loopback ports of one control plane. */
export interface Ports {
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly controllerManager: number;
  readonly scheduler: number;
}

/** Where an API server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** What the programs of one control plane share. */
export interface Layout {
  readonly folder: string;
  readonly credentials: Credentials;
  readonly ports: Ports;
  readonly apiServer: Address;
}

/** Everything that our own accounts do is kept, and what others write about pods is kept whole. */
export const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    {
      level: 'Metadata',
      userGroups: ['system:serviceaccounts:plimsoll-system', 'system:serviceaccounts:plimsoll-node'],
    },
    { level: 'None', resources: [{ group: '', resources: ['events'] }, { group: 'events.k8s.io' }] },
    { level: 'None', nonResourceURLs: ['/readyz*', '/livez*', '/healthz*'] },
    {
      level: 'RequestResponse',
      verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'],
      resources: [{ group: '', resources: ['pods', 'pods/eviction', 'pods/binding', 'pods/status'] }],
    },
    { level: 'Metadata' },
  ],
} as const;

/** etcd without fsync: the data lives as long as the test. */
export function etcdFlags({ folder, ports }: Layout): readonly string[] {
  const client = `http://${hostPort(LOOPBACK, ports.etcd)}`;
  const peer = `http://${hostPort(LOOPBACK, ports.etcdPeer)}`;
  return [
    '--name=test',
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=test=${peer}`,
    '--unsafe-no-fsync',
  ];
}

/** kube-apiserver as in production: RBAC, NodeRestriction, service accounts, an audit log. */
export function apiServerFlags({ folder, credentials, ports, apiServer }: Layout): readonly string[] {
  return [
    `--etcd-servers=http://${hostPort(LOOPBACK, ports.etcd)}`,
    `--bind-address=${apiServer.host}`,
    `--advertise-address=${apiServer.host}`,
    `--secure-port=${apiServer.port}`,
    // Pods look for the API server at the endpoint of the service `kubernetes`, which may not be of 127/8.
    `--endpoint-reconciler-type=${apiServer.host === LOOPBACK ? 'none' : 'lease'}`,
    '--enable-aggregator-routing=true',
    `--kubelet-certificate-authority=${credentials.caFile}`,
    `--kubelet-client-certificate=${credentials.kubeletClient.certFile}`,
    `--kubelet-client-key=${credentials.kubeletClient.keyFile}`,
    '--kubelet-preferred-address-types=InternalIP',
    `--cert-dir=${join(folder, 'generated')}`,
    `--tls-cert-file=${credentials.apiServer.certFile}`,
    `--tls-private-key-file=${credentials.apiServer.keyFile}`,
    `--client-ca-file=${credentials.caFile}`,
    `--token-auth-file=${credentials.tokenFile}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${credentials.serviceAccountKeyFile}`,
    `--service-account-signing-key-file=${credentials.serviceAccountKeyFile}`,
    `--service-cluster-ip-range=${isIPv6(apiServer.host) ? 'fd00:10:96::/112' : '10.96.0.0/16'}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    '--profiling=false',
    `--audit-policy-file=${join(folder, 'audit-policy.json')}`,
    `--audit-log-path=${join(folder, 'audit.log')}`,
  ];
}

/** The rates are raised, as the defaults double the start-up; the grace keeps nodes without a kubelet Ready. */
export function controllerManagerFlags({ folder, credentials, ports }: Layout): readonly string[] {
  const kubeconfig = credentials.kubeconfig('kube-controller-manager');
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--service-account-private-key-file=${credentials.serviceAccountKeyFile}`,
    `--root-ca-file=${credentials.caFile}`,
    '--use-service-account-credentials=true',
    '--leader-elect=false',
    `--bind-address=${LOOPBACK}`,
    `--secure-port=${ports.controllerManager}`,
    `--cert-dir=${join(folder, 'generated')}`,
    '--kube-api-qps=200',
    '--kube-api-burst=400',
    '--node-monitor-grace-period=24h',
  ];
}

/** kube-scheduler with the configuration file of the folder. */
export function schedulerFlags({ folder, credentials, ports }: Layout): readonly string[] {
  const kubeconfig = credentials.kubeconfig('kube-scheduler');
  return [
    `--config=${join(folder, 'scheduler.json')}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--bind-address=${LOOPBACK}`,
    `--secure-port=${ports.scheduler}`,
    `--cert-dir=${join(folder, 'generated')}`,
  ];
}
