// reviews <url> <ca file> <reviews file> http1|http2 <concurrency> <warm-up> <count> <pid>: sends AdmissionReviews over
// TLS connections that stay open, as kube-apiserver does, and checks each answer. The file has a review per line: path,
// expected answer ("patched", "allowed" or "denied"), uid and body, separated by tabs. Prints one line of JSON: the time
// of all requests, quantiles of each, and the CPU time that the process <pid> spent meanwhile.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type review struct {
	path, expected, uid string
	body                []byte
}

type response struct {
	Response struct {
		UID     string `json:"uid"`
		Allowed bool   `json:"allowed"`
		Patch   []byte `json:"patch"`
	} `json:"response"`
}

type report struct {
	Seconds float64 `json:"seconds"`
	CPUMs   float64 `json:"cpuMs"`
	P50     float64 `json:"p50"`
	P99     float64 `json:"p99"`
	Most    float64 `json:"most"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 8 {
		return fmt.Errorf("expected 8 arguments, got %d", len(args))
	}
	url, protocol, pid := args[0], args[3], args[7]
	reviews, err := readReviews(args[2])
	if err != nil {
		return err
	}
	numbers := make([]int, 3)
	for i, text := range args[4:7] {
		if numbers[i], err = strconv.Atoi(text); err != nil {
			return err
		}
	}
	concurrency, warmUp, count := numbers[0], numbers[1], numbers[2]
	client, err := newClient(args[1], protocol, concurrency)
	if err != nil {
		return err
	}
	if _, err := send(client, url, protocol, reviews, concurrency, warmUp); err != nil {
		return err
	}
	before, err := cpuMs(pid)
	if err != nil {
		return err
	}
	from := time.Now()
	latencies, err := send(client, url, protocol, reviews, concurrency, count)
	if err != nil {
		return err
	}
	seconds := time.Since(from).Seconds()
	after, err := cpuMs(pid)
	if err != nil {
		return err
	}
	slices.Sort(latencies)
	at := func(share float64) float64 {
		return float64(latencies[int(share*float64(len(latencies)-1))].Microseconds()) / 1000
	}
	return json.NewEncoder(os.Stdout).Encode(report{seconds, after - before, at(0.5), at(0.99), at(1)})
}

func readReviews(path string) ([]review, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var found []review
	for lines.Scan() {
		parts := strings.SplitN(lines.Text(), "\t", 4)
		if len(parts) != 4 {
			return nil, fmt.Errorf("%s: line %d has %d parts", path, len(found)+1, len(parts))
		}
		found = append(found, review{parts[0], parts[1], parts[2], []byte(parts[3])})
	}
	return found, lines.Err()
}

func newClient(caFile, protocol string, concurrency int) (*http.Client, error) {
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s has no certificate", caFile)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(protocol == "http1")
	protocols.SetHTTP2(protocol == "http2")
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots},
		Protocols:           protocols,
		MaxIdleConnsPerHost: concurrency,
		MaxConnsPerHost:     concurrency,
		DisableCompression:  true,
	}}, nil
}

// send gives the time that each request took.
func send(client *http.Client, url, protocol string, reviews []review, concurrency, count int) ([]time.Duration, error) {
	latencies := make([]time.Duration, count)
	var next atomic.Int64
	var group sync.WaitGroup
	failures := make(chan error, concurrency)
	for range concurrency {
		group.Go(func() {
			for {
				at := int(next.Add(1)) - 1
				if at >= count {
					return
				}
				from := time.Now()
				if err := sendOne(client, url, protocol, reviews[at%len(reviews)]); err != nil {
					failures <- err
					return
				}
				latencies[at] = time.Since(from)
			}
		})
	}
	group.Wait()
	select {
	case err := <-failures:
		return nil, err
	default:
		return latencies, nil
	}
}

func sendOne(client *http.Client, url, protocol string, it review) error {
	request, err := http.NewRequest(http.MethodPost, url+it.path+"?timeout=10s", bytes.NewReader(it.body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, */*")
	request.Header.Set("User-Agent", "kube-apiserver-admission")
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", it.path, answer.Status, body)
	}
	if isHTTP2 := answer.ProtoMajor == 2; isHTTP2 != (protocol == "http2") {
		return fmt.Errorf("%s: expected %s, got %s", it.path, protocol, answer.Proto)
	}
	var decoded response
	if err := json.Unmarshal(body, &decoded); err != nil {
		return err
	}
	got := decoded.Response
	outcome := "denied"
	if got.Allowed {
		outcome = "allowed"
	}
	if got.Allowed && len(got.Patch) > 0 {
		outcome = "patched"
	}
	if got.UID != it.uid || outcome != it.expected {
		return fmt.Errorf("%s: expected %s to be %s, got %s", it.path, it.uid, it.expected, body)
	}
	return nil
}

// cpuMs is the CPU time of a process with all its threads. The kernel counts it in steps of 10 ms.
func cpuMs(pid string) (float64, error) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
	var ticks float64
	for _, text := range fields[11:13] {
		part, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, err
		}
		ticks += part
	}
	const ticksPerSecond = 100
	return ticks * 1000 / ticksPerSecond, nil
}
