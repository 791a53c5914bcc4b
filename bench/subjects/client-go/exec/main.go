// exec <kubeconfig> download|upload|forward <bytes> <warm-up bytes> [<puller>…]: moves bytes through an exec or a port-forward
// with client-go, over WebSockets, and prints what it took as JSON in one line.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
)

type counter struct{ bytes int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

// source gives zeros, 64 KiB at a time.
type source struct{ left int64 }

func (s *source) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	n := int64(min(len(p), 65536))
	n = min(n, s.left)
	clear(p[:n])
	s.left -= n
	return int(n), nil
}

func cpuMs() float64 {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	ms := func(t syscall.Timeval) float64 { return float64(t.Sec)*1000 + float64(t.Usec)/1000 }
	return ms(usage.Utime) + ms(usage.Stime)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	direction := os.Args[2]
	count, err := strconv.ParseInt(os.Args[3], 10, 64)
	must(err)
	warmUp, err := strconv.ParseInt(os.Args[4], 10, 64)
	must(err)
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	config.QPS = -1
	clients, err := kubernetes.NewForConfig(config)
	must(err)
	move := func(n int64) int64 { return run(config, clients, direction, n) }
	if direction == "forward" {
		move = forward(config, clients, os.Args[5:])
	}
	move(warmUp)
	from, began := cpuMs(), time.Now()
	got := move(count)
	report := map[string]any{"bytes": got, "cpuMs": cpuMs() - from, "ms": float64(time.Since(began).Microseconds()) / 1000}
	must(json.NewEncoder(os.Stdout).Encode(report))
}

func run(config *rest.Config, clients *kubernetes.Clientset, direction string, n int64) int64 {
	options := &v1.PodExecOptions{Command: []string{direction, strconv.FormatInt(n, 10)}, Stdout: true, Stdin: direction == "upload"}
	url := clients.CoreV1().RESTClient().Get().Namespace("default").Resource("pods").Name("web").
		SubResource("exec").VersionedParams(options, scheme.ParameterCodec).URL()
	executor, err := remotecommand.NewWebSocketExecutor(config, "GET", url.String())
	must(err)
	if direction == "download" {
		out := &counter{}
		must(executor.StreamWithContext(context.Background(), remotecommand.StreamOptions{Stdout: out}))
		return out.bytes
	}
	var out bytes.Buffer
	must(executor.StreamWithContext(context.Background(), remotecommand.StreamOptions{Stdin: &source{n}, Stdout: &out}))
	got, err := strconv.ParseInt(out.String(), 10, 64)
	must(err)
	return got
}

// forward listens on a local port, from which another process reads.
func forward(config *rest.Config, clients *kubernetes.Clientset, puller []string) func(int64) int64 {
	url := clients.CoreV1().RESTClient().Post().Namespace("default").Resource("pods").Name("web").SubResource("portforward").URL()
	dialer, err := portforward.NewSPDYOverWebsocketDialer(url, config)
	must(err)
	ready := make(chan struct{})
	forwarder, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{"0:1"}, make(chan struct{}), ready, io.Discard, os.Stderr)
	must(err)
	go func() { must(forwarder.ForwardPorts()) }()
	<-ready
	ports, err := forwarder.GetPorts()
	must(err)
	return func(n int64) int64 {
		args := append(puller[1:], fmt.Sprint(ports[0].Local), strconv.FormatInt(n, 10))
		out, err := exec.Command(puller[0], args...).Output()
		must(err)
		got, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		must(err)
		return got
	}
}
