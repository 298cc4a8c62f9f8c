/** The arguments of deploy/base/webhook/deployment.yaml. */
export const AS_DEPLOYED = {
  tls: { secretName: 'plimsoll-webhook-tls' },
  registration: { mode: 'CaBundle' },
};
