// The issuer of certificates is plain JavaScript, as the control plane's tools run without a build.
declare module '*/control-plane/x509.mjs' {
  export interface Identity {
    readonly cert: string;
    readonly key: string;
  }
  export interface CertificateOptions {
    readonly commonName: string;
    readonly organizations?: readonly string[];
    readonly dnsNames?: readonly string[];
    readonly ipAddresses?: readonly string[];
    readonly notBefore?: Date;
    readonly notAfter?: Date;
    readonly isCA?: boolean;
    readonly usages?: readonly ('server' | 'client')[];
    readonly issuer?: Identity;
  }
  export function issueCertificate(options: CertificateOptions): Identity;
  export function createAuthority(
    commonName: string,
    options?: Pick<CertificateOptions, 'notBefore' | 'notAfter' | 'issuer'>,
  ): Identity;
}
