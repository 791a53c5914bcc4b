// encode <folder> <resourceVersion>: the Pods in added.ndjson and modified.ndjson, as client-go's own types write them in protobuf, to
// added.pb and modified.pb: events of a watch, each framed as one HTTP chunk, as kube-apiserver sends them.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

var serializer = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

func main() {
	for eventType, name := range map[string]string{"ADDED": "added", "MODIFIED": "modified"} {
		base := filepath.Join(os.Args[1], name)
		if err := encodeAll(base+".ndjson", base+".pb", eventType); err != nil {
			log.Fatalf("%s: %v", base, err)
		}
	}
	// Where a streamed list ends.
	bookmark := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: os.Args[2],
		Annotations:     map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}}
	file, err := os.Create(filepath.Join(os.Args[1], "bookmark.pb"))
	if err != nil {
		log.Fatal(err)
	}
	if err := writeEvent(file, "BOOKMARK", bookmark); err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}

func encodeAll(from, to, eventType string) error {
	input, err := os.Open(from)
	if err != nil {
		return err
	}
	defer input.Close()
	output, err := os.Create(to)
	if err != nil {
		return err
	}
	writer := bufio.NewWriterSize(output, 1<<20)
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		pod := &corev1.Pod{}
		if err := json.Unmarshal(lines.Bytes(), pod); err != nil {
			return err
		}
		if err := writeEvent(writer, eventType, pod); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if err := writer.Flush(); err != nil {
		return err
	}
	return output.Close()
}

func writeEvent(writer interface{ Write([]byte) (int, error) }, eventType string, pod *corev1.Pod) error {
	pod.APIVersion, pod.Kind = "v1", "Pod"
	object, err := runtime.Encode(serializer, pod)
	if err != nil {
		return err
	}
	event, err := (&metav1.WatchEvent{Type: eventType, Object: runtime.RawExtension{Raw: object}}).Marshal()
	if err != nil {
		return err
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(event)))
	_, err = fmt.Fprintf(writer, "%x\r\n%s%s\r\n", len(frame)+len(event), frame, event)
	return err
}
